
    /** The twist that agrees best with all wheels (least squares of their slips), into `result`: v_x, v_y, omega. */
    public void toTwist(Wheels wheels, double[] result) {
        take(wheels);
        Functions.base_twist_prepared(angle, speed, steeringRate, prepared, twist, slip@base_twist_prepared@);
        System.arraycopy(twist, 0, result, 0, 3);
    }

    /** How fast a wheel slipped at the twist that {@link #toTwist} gave last, m/s. */
    public double slip(int wheel) {
        return slip[wheel];
    }
