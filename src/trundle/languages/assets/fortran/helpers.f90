@@ least_of: not the intrinsics, which may leave out what is no number; kernels keep it
pure function least_of(x, y) result(found)
  real(wp), intent(in) :: x, y
  real(wp) :: found
  found = y
  if (.not. x >= y .and. y <= y) found = x
end function least_of
@@ largest_of
pure function largest_of(x, y) result(found)
  real(wp), intent(in) :: x, y
  real(wp) :: found
  found = y
  if (.not. x <= y .and. y <= y) found = x
end function largest_of
@@ sign_of
pure function sign_of(x) result(found)
  real(wp), intent(in) :: x
  real(wp) :: found
  found = x
  if (abs(x) > 0.0_wp) found = sign(1.0_wp, x)
end function sign_of
@@ whole_below
pure function whole_below(x) result(found)
  real(wp), intent(in) :: x
  real(wp) :: found
  found = aint(x)
  if (found > x) found = found - 1.0_wp
end function whole_below
