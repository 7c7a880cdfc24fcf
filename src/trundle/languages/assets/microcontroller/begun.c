    control_start(&@NAME@_parameter_defaults);
    control_drive(0.3f, 0.3f, 0.3f);
    on_timer(); /* the first one reads encoders only */
