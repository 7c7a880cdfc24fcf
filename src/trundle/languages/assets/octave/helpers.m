@@ only_where
function x = only_where(known, x)
  x = x .* ones(size(known));
  x(~known) = NaN;
end
@@ choose
function found = choose(first, x, y)
  if isscalar(first)
    if first, found = x; else, found = y; end
  else
    x = x + zeros(size(first));
    found = y + zeros(size(first));
    found(first) = x(first);
  end
end
@@ least_of: min and max leave out what is no number, which kernels keep
function found = least_of(x, y)
  found = min(x, y);
  found(x ~= x | y ~= y) = NaN;
end
@@ largest_of
function found = largest_of(x, y)
  found = max(x, y);
  found(x ~= x | y ~= y) = NaN;
end
@@ sign_as
function found = sign_as(x, y)
  found = abs(x) .* (1 - 2 * (y < 0 | (y == 0 & 1 ./ y < 0)));
end
@@ nearest_rest_of: IEEE 754's, x - n y with n the whole number nearest to x/y, the even one of two; all steps are exact
function found = nearest_rest_of(x, y)
  y = abs(y) + zeros(size(x));
  rest = rest_of(x, 2 * y);
  found = rest;
  near = abs(rest) > 0.5 * y;
  found(near) = rest(near) - sign(rest(near)) .* y(near);
  far = abs(rest) >= 1.5 * y;
  found(far) = rest(far) - sign(rest(far)) * 2 .* y(far);
end
@@ rest_of: `rem` takes quotients near a whole number for whole; here the divisor's doubles are taken away, all exactly
function found = rest_of(x, y)
  found = x + zeros(size(y));
  y = abs(y) + zeros(size(x));
  for k = 1:numel(found)
    rest = abs(found(k));
    if ~(y(k) > 0) || ~(rest < Inf)
      rest = NaN;
    end
    while rest >= y(k)
      [~, high] = log2(rest);
      [~, low] = log2(y(k));
      part = pow2(y(k), high - low);
      if part > rest
        part = part / 2;
      end
      rest = rest - part;
    end
    found(k) = sign(found(k)) * rest;
  end
end
