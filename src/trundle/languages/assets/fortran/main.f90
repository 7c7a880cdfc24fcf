! Runs @NAME@ from its start and prints time and states as CSV, about a hundred rows:
! ./main [SECONDS [STEP [INPUT...]]]
program main
  use, intrinsic :: iso_fortran_env, only: error_unit
  use @NAME@, only: wp, step, start => state_default, parameters => parameter_default, inputs => input_size
  implicit none
  real(wp), parameter :: moved(@ROOM@) = [real(wp) :: @GIVEN@]
  real(wp) :: state(size(start)), input(inputs), after(size(start)), seconds, h
  integer :: k, steps
  if (command_argument_count() > 2 + inputs) call refuse('too many numbers')
  seconds = argument(1, 10.0_wp)
  h = argument(2, @STEP@_wp)
  if (.not. (seconds > 0)) call refuse("SECONDS isn't a number above 0")
  if (.not. (h > 0)) call refuse("STEP isn't a number above 0")
  if (seconds / h > 2e9_wp) call refuse('SECONDS are more than 2e9 times STEP')
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
    integer :: status
    number = otherwise
    if (place > command_argument_count()) return
    call get_command_argument(place, text, status=status)
    if (text == '' .or. verify(trim(text), '0123456789.+-eEdD') > 0) status = 1
    if (status == 0) read (text, '(f100.0)', iostat=status) number
    if (status /= 0 .or. .not. abs(number) <= huge(number)) call refuse("'" // trim(text) // "' isn't a number")
  end function argument
  subroutine refuse(problem)
    character(*), intent(in) :: problem
    write (error_unit, '(a)') problem, 'usage: ./main [SECONDS [STEP [INPUT...]]], inputs:'
@NAMES@
    flush (error_unit)
    stop 2
  end subroutine refuse
end program main
