! @NAME@, @SIGNATURE@. README.md tells what every subroutine takes and gives.
! All are pure: they keep nothing between calls, so any number of threads may call them.
module @NAME@
  use, intrinsic :: iso_c_binding, only: wp => c_double@INT64@
  implicit none
  private
@PUBLIC@

@CONSTANTS@

contains

@FUNCTIONS@
end module @NAME@
