package @NAME@;

/**
 * The pose of @NAME@ (@SIGNATURE@), x and y in m and theta in rad, by its encoders, and its covariance: exact on the arc
 * that the base moves on while its wheels turn evenly. An object belongs to one thread and allocates nothing later.
 */
public final class Odometry {
    /** How many encoders are read: the increments of the first {@link #INCREMENTS} are counted, the others held. */
    public static final int READINGS = @READINGS@;
    /** How many readings are counted. */
    public static final int INCREMENTS = @INCREMENTS@;
    /** How many readings are angles that the motion depends on, of steering and joints. */
    public static final int ANGLES = @ANGLES@;

    private static final String[] NAMES = {@NAMES@};
    private static final int[] ANGLE = {@ANGLE_PLACES@}; // which readings they are

    private final double[] prepared = new double[@PREPARED@]; // what the function needs of the parameters
    private final double[] pose = new double[3];
    private final double[] covariance = new double[9];
    private final double[] last = new double[READINGS];
    private final double[] increment = new double[INCREMENTS];
    private final double[] angle = new double[ANGLES];
    private final double[] newPose = new double[3];
    private final double[] byPose = new double[9];
    private final double[] byIncrement = new double[3 * INCREMENTS];
    private final double[] byAngle = new double[3 * ANGLES];
    private final double[] sum = new double[9];@work@

    /** By the description's parameters. */
    public Odometry() {
        this(new Parameters());
    }

    /** By others, measured on the robot, say; as they are now. */
    public Odometry(Parameters parameters) {
        Functions.prepare(parameters.toArray(), prepared@prepare@);
    }

    /** What a reading is of: "left.angle" of a wheel about its axle, "left.steering" of its pivot; rad. */
    public static String name(int reading) {
        return NAMES[reading];
    }

    /** Where an angle of `angleCovariance` is among the readings. */
    public static int angle(int place) {
        return ANGLE[place];
    }

    /**
     * Starts anew at a pose, with its covariance (row-major, 9 numbers) and what the encoders read there: to be called
     * before the first update, too, unless they read 0.
     */
    public void reset(double x, double y, double theta, double[] poseCovariance, double[] readings) {
        pose[0] = x;
        pose[1] = y;
        pose[2] = theta;
        System.arraycopy(poseCovariance, 0, covariance, 0, 9);
        System.arraycopy(readings, 0, last, 0, READINGS);
    }

    /**
     * Moves on to new readings. The covariances of the increments since the last ones and of the angles are row-major,
     * {@link #INCREMENTS} and {@link #ANGLES} squared numbers: P' = F P F^T + G Q G^T + H R H^T. Encoders of
     * steering may begin anew after a whole turn, as wheels are steered by less than half a turn between updates; the
     * others go on. False where a number isn't finite (an encoder that wasn't read yet, say): nothing has changed then.
     */
    public boolean update(double[] readings, double[] incrementCovariance, double[] angleCovariance) {
        for (int k = 0; k < INCREMENTS; k++) increment[k] = readings[k] - last[k];
        for (int k = 0; k < ANGLES; k++) angle[k] = last[ANGLE[k]];
        Functions.odometry_step_prepared(pose, increment, angle, prepared, newPose, byPose, byIncrement, byAngle@odometry_step_prepared@);
        java.util.Arrays.fill(sum, 0);
        addCarried(byPose, covariance, 3);
        addCarried(byIncrement, incrementCovariance, INCREMENTS);
        addCarried(byAngle, angleCovariance, ANGLES);
        for (double each : newPose) if (Double.isNaN(each) || Double.isInfinite(each)) return false;
        for (double each : sum) if (Double.isNaN(each) || Double.isInfinite(each)) return false;
        System.arraycopy(sum, 0, covariance, 0, 9);
        System.arraycopy(newPose, 0, pose, 0, 3);
        System.arraycopy(readings, 0, last, 0, READINGS);
        return true;
    }

    /**
     * Takes a gyroscope's heading in, theta in rad, also one that begins anew after a turn: the pose and its covariance
     * as a Kalman filter has them for a reading of that variance, rad^2. To be called after {@link #update}, whose noise
     * must not be zero, or the gyroscope adds nothing. False where a number isn't finite or the variance isn't positive:
     * nothing has changed then.
     */
    public boolean correctHeading(double theta, double variance) {
        double missing = Math.IEEEremainder(theta - pose[2], 2 * Math.PI);
        double total = covariance[8] + variance;
        if (!(variance > 0) || Double.isNaN(missing) || Double.isNaN(total) || Double.isInfinite(total)) return false;
        for (int k = 0; k < 3; k++) pose[k] += covariance[3 * k + 2] / total * missing;
        for (int row = 0; row < 3; row++) {
            for (int k = 0; k < 3; k++) {
                sum[3 * row + k] = covariance[3 * row + k] - covariance[3 * row + 2] / total * covariance[6 + k];
            }
        }
        System.arraycopy(sum, 0, covariance, 0, 9);
        return true;
    }

    /** m, along the ground's first axis. */
    public double x() {
        return pose[0];
    }

    /** m, along the ground's second axis. */
    public double y() {
        return pose[1];
    }

    /** rad, counted on beyond whole turns. */
    public double theta() {
        return pose[2];
    }

    /** An entry of the covariance of (x, y, theta). */
    public double covariance(int row, int column) {
        return covariance[3 * row + column];
    }

    /** Adds J C J^T to the sum, J with 3 rows and n columns. */
    private void addCarried(double[] slope, double[] noise, int n) {
        for (int row = 0; row < 3; row++) {
            for (int k = 0; k < n; k++) {
                double felt = 0;
                for (int j = 0; j < n; j++) felt += slope[n * row + j] * noise[n * j + k];
                for (int column = 0; column < 3; column++) sum[3 * row + column] += felt * slope[n * column + k];
            }
        }
    }
}
