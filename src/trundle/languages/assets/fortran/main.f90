! Runs @NAME@ from its start and prints time and states as CSV, about a hundred rows:
! ./main [SECONDS [STEP [INPUT...]]]
program main
  use @NAME@, only: wp, step, start => state_default, parameters => parameter_default, inputs => input_size
  implicit none
  real(wp), parameter :: moved(@ROOM@) = [real(wp) :: @GIVEN@]
  real(wp) :: state(size(start)), input(inputs), after(size(start)), seconds, h
  integer :: k, steps
  seconds = argument(1, 10.0_wp)
  h = argument(2, 1e-3_wp)
  call take(input)
  state = start
@HEADER@
  steps = nint(seconds / h)
  do k = 0, steps - 1
    if (mod(k, max(1, steps / 100)) == 0) call show(k * h)
    call step(state, input, parameters, h, after)
    state = after
  end do
  call show(steps * h)
contains
  subroutine take(numbers)
    real(wp), intent(out) :: numbers(:)
    integer :: place
    do place = 1, size(numbers)
      numbers(place) = argument(place + 2, moved(place))
    end do
  end subroutine take
  subroutine show(time)
    real(wp), intent(in) :: time
    print '(*(es25.17e3, :, ","))', time, state
  end subroutine show
  function argument(place, otherwise) result(number)
    integer, intent(in) :: place
    real(wp), intent(in) :: otherwise
    real(wp) :: number
    character(100) :: text
    number = otherwise
    call get_command_argument(place, text)
    if (len_trim(text) > 0) read (text, *) number
  end function argument
end program main
