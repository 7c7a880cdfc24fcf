package @NAME@;

/**
 * Kinematics of the base of @NAME@ (@SIGNATURE@): its twist (v_x, v_y in m/s, omega in rad/s, in the base's own axes)
 * and what its wheels do. An object keeps arrays for its work, so each thread needs one; nothing is allocated later.
 */
public final class Kinematics {
    /** How many wheels on the base touch the ground. */
    public static final int WHEELS = @COUNT@;

    private static final String[] NAMES = {@NAMES@};
    private static final int[] TRAILING = {@TRAILING@}; // those whose contact is ahead of or behind their pivot

    private final double[] prepared = new double[@PREPARED@]; // what the functions need of the parameters
    private final double[] radius = new double[WHEELS]; // m
    private final double[] heading = new double[WHEELS]; // rad: a wheel's angle on the base where its steering is 0
    private final double[] twist = new double[3];
    private final double[] angle = new double[WHEELS];
    private final double[] speed = new double[WHEELS];
    private final double[] newAngle = new double[WHEELS];
    private final double[] newSpeed = new double[WHEELS];
    private final double[] steeringRate = new double[WHEELS];
    private final double[] trailingRate = new double[TRAILING.length];
    private final double[] slip = new double[WHEELS];@work@

    /** What the wheels do, in the order of {@link #name}. */
    public static final class Wheels {
        /** How fast each turns about its axle, rad/s; positive rolls forward. */
        public final double[] rate = new double[WHEELS];
        /** Angles of the steering joints, rad; 0 of wheels that are not steered. */
        public final double[] steering = new double[WHEELS];
        /** How fast casters turn about their pivots, rad/s; 0 of all others. */
        public final double[] steeringRate = new double[WHEELS];
    }

    /** By the description's parameters. */
    public Kinematics() {
        this(new Parameters());
    }

    /** By others, measured on the robot, say; as they are now. */
    public Kinematics(Parameters parameters) {
        Functions.wheel_measures(parameters.toArray(), radius, heading@wheel_measures@);
        Functions.prepare(parameters.toArray(), prepared@prepare@);
    }

    /** The name of a wheel. */
    public static String name(int wheel) {
        return NAMES[wheel];
    }

    /** The radius of a wheel, m. */
    public double radius(int wheel) {
        return radius[wheel];
    }

    /**
     * What the wheels do at a twist, on from what they do: steering angles go on without jumps, wheels roll backward
     * where that saves turning, and hold their angles where they stand still.
     */
    public void toWheels(double vX, double vY, double omega, Wheels wheels) {
        take(vX, vY, omega);
        take(wheels);
        Functions.next_wheel_states_prepared(twist, angle, speed, prepared, newAngle, newSpeed@TRAILING_ARGUMENT@@next_wheel_states_prepared@);
        give(wheels);
    }

    /** The same from nothing: every steered wheel rolls forward, and points forward where it stands still. */
    public void toWheelsForward(double vX, double vY, double omega, Wheels wheels) {
        take(vX, vY, omega);
        Functions.wheel_states_prepared(twist, prepared, newAngle, newSpeed@TRAILING_ARGUMENT@@wheel_states_prepared@);
        give(wheels);
    }
@BACK@
    /** How fast a wheel rolls, m/s: what WPILib's SwerveModuleState and SwerveModuleVelocity hold beside the angle. */
    public double speed(Wheels wheels, int wheel) {
        return radius[wheel] * wheels.rate[wheel];
    }

    /**
     * Slows all wheels alike so that none rolls faster than `fastest`, m/s, and leaves them where none does: the base
     * goes the same way, slower.
     */
    public void desaturate(Wheels wheels, double fastest) {
        double most = 0;
        for (int k = 0; k < WHEELS; k++) most = Math.max(most, Math.abs(speed(wheels, k)));
        if (!(most > fastest)) return;
        for (int k = 0; k < WHEELS; k++) {
            wheels.rate[k] *= fastest / most;
            wheels.steeringRate[k] *= fastest / most;
        }
    }

    private void take(double vX, double vY, double omega) {
        twist[0] = vX;
        twist[1] = vY;
        twist[2] = omega;
    }

    private void take(Wheels wheels) {
        for (int k = 0; k < WHEELS; k++) {
            angle[k] = heading[k] + wheels.steering[k];
            speed[k] = radius[k] * wheels.rate[k];
            steeringRate[k] = wheels.steeringRate[k];
        }
    }

    private void give(Wheels wheels) {
        for (int k = 0; k < WHEELS; k++) {
            wheels.steering[k] = newAngle[k] - heading[k];
            wheels.rate[k] = newSpeed[k] / radius[k];
            wheels.steeringRate[k] = 0;
        }
        for (int k = 0; k < TRAILING.length; k++) wheels.steeringRate[TRAILING[k]] = trailingRate[k];
    }
}
