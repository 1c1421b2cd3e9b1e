! Logs through sabath_log.f90 what its word asks for, as log.c does. log_test.py reads the lines.
program log_lines
  use, intrinsic :: iso_c_binding, only: c_int
  use, intrinsic :: iso_fortran_env, only: int64, real32, real64, iostat_end, input_unit
  use sabath_log
  implicit none
  interface
    function c_fork() bind(c, name='fork')
      import :: c_int
      integer(c_int) :: c_fork
    end function
    function c_wait(status) bind(c, name='wait')
      import :: c_int
      integer(c_int) :: status, c_wait
    end function
    subroutine c_exit(status) bind(c, name='_exit')
      import :: c_int
      integer(c_int), value :: status
    end subroutine
  end interface
  character(16) :: word
  integer :: problems(9)

  problems = 0
  call get_command_argument(1, word)
  select case (word)
  case ('bits')
    call log_bits(problems(1))
  case ('at-once')
    call log_at_once(problems(1))
  case ('others')
    call sabath_log_values([character(16) :: 'größe/"a\b"', 'b'], [0.1_real64, -0.0_real64], 12, 1, problems(1))
    call sabath_log_value('most', huge(1_int64), problem=problems(2))
    call sabath_log_value('half', 0.5_real32, step=3, problem=problems(3))
    call sabath_log_value('four', 4, epoch=2, problem=problems(4))
    call sabath_log_seed('numpy', 7, problems(5))
    call sabath_log_sample_ids([3, -1, 2], 0, problems(6))
    call sabath_log_sample_names([character(3) :: 'a', 'b"c'], problem=problems(7))
    call sabath_log_sample_order('sha256:00', problems(8))
    call sabath_log_sample_ids([integer ::], problem=problems(9))
  case ('much')
    call log_much(problems(1))
  case ('wrong')
    call log_wrong(problems(1))
  case ('returns')
    call sabath_log_value('v', 1, problem=problems(1))
    call sabath_log_value('v', 2, problem=problems(2))
    print '(2(i0, 1x), l1)', problems(:2), sabath_log_is_in_run()
    problems = 0
  case default
    problems = 1
  end select
  if (any(problems /= 0)) stop 1

contains

  subroutine log_bits(problem)
    integer, intent(out) :: problem
    integer(int64) :: bits
    integer :: step, status
    problem = 0
    step = 0
    do
      read (input_unit, '(z16)', iostat=status) bits
      if (status == iostat_end .or. problem /= 0) return
      call sabath_log_value('v', transfer(bits, 1.0_real64), step, problem=problem)
      step = step + 1
    end do
  end subroutine

  subroutine log_at_once(problem)
    integer, intent(out) :: problem
    integer :: thread, i
    integer(c_int) :: status
    problem = 0
    do i = 0, 7
      if (c_fork() == 0) then
        call sabath_log_value('child', real(i, real64), i, problem=problem)
        call c_exit(int(problem, c_int))
      end if
    end do
    !$omp parallel do num_threads(64) schedule(static, 1)
    do thread = 0, 63
      do i = 0, 49
        call sabath_log_value('v', thread, i, thread)
      end do
    end do
    do i = 0, 7
      if (c_wait(status) < 0 .or. status /= 0) problem = 1
    end do
  end subroutine

  subroutine log_much(problem)
    integer, intent(out) :: problem
    character(16) :: names(1000)
    real(real64) :: values(1000)
    integer :: i
    do i = 1, 1000
      write (names(i), '("name", i0)') i - 1
      values(i) = i - 1
    end do
    call sabath_log_sample_ids([(i, i = 0, 99999)], 4, problem)
    if (problem == 0) call sabath_log_values(names, values, 5, problem=problem)
  end subroutine

  ! Each wrong name is a problem.
  subroutine log_wrong(problem)
    integer, intent(out) :: problem
    character(2) :: names(8)
    integer :: i
    names = [character(2) :: '', achar(10) // 'b', achar(127), char(255), char(195), 'a' // char(195), &
      char(192) // char(128), 'x' // achar(0)]
    do i = 1, size(names)
      call sabath_log_value(names(i), 1, problem=problem)
      if (problem == 0) stop 1
    end do
    call sabath_log_value('step', 1, problem=problem)
    if (problem /= 0) call sabath_log_value(repeat('x', 201), 1, problem=problem)
    if (problem /= 0) call sabath_log_value(char(237) // char(160) // char(128), 1, problem=problem)
    if (problem /= 0) call sabath_log_values(['a', 'b'], [1.0_real64], problem=problem)
    if (problem /= 0) call sabath_log_seed('', 1, problem)
    if (problem /= 0) call sabath_log_sample_names([''], problem=problem)
    problem = 1 - problem
  end subroutine
end program
