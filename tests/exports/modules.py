"""What tests of exported models share."""


def stepped(model, x, u, p, h):
    """A step of the classical Runge-Kutta method by the kernels."""
    a = model.dynamics(x, u, p)
    b = model.dynamics(x + h / 2 * a, u, p)
    c = model.dynamics(x + h / 2 * b, u, p)
    d = model.dynamics(x + h * c, u, p)
    x = x + h / 6 * (a + 2 * b + 2 * c + d)
    return x if model.projection is None else model.projection(x, u, p)
