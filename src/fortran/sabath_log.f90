! sabath_log.f90: metrics, seeds and sample order of a run of sabath, from Fortran 2008.
!
!     use sabath_log
!     call sabath_log_value('loss', loss, step=i)
!
! Compile this file with the code; there is no library to link. It does what include/sabath_log.h does for
! C: each call appends a line to the file of $SABATH_METRICS with one write of the system. Outside of a run
! nothing is written. Threads and forked processes may log at once. `problem` is 0, or 1 where nothing was
! recorded; the first problem is reported on stderr, and none ends the program. Names are trimmed. Needs POSIX,
! and `strfromd` of glibc 2.25 or newer.
module sabath_log
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  implicit none
  private
  public :: sabath_log_is_in_run, sabath_log_value, sabath_log_values, sabath_log_seed
  public :: sabath_log_sample_ids, sabath_log_sample_names, sabath_log_sample_order

  ! Records one value: real32, real64, int32 or int64.
  interface sabath_log_value
    module procedure log_real64, log_real32, log_int64, log_int32
  end interface
  ! Reports the seed that a part of the code uses. Seeds are recorded and compared.
  interface sabath_log_seed
    module procedure log_seed64, log_seed32
  end interface
  ! Reports samples in the order in which they are taken. The digest of all is compared.
  interface sabath_log_sample_ids
    module procedure log_ids64, log_ids32
  end interface

  integer, parameter :: longest_name = 200
  integer, parameter :: longest_member = 512
  integer, parameter :: longest_line = 8192
  character(1), parameter :: line_end = achar(10)

  ! Texts have a fixed length: the hidden length of another one is shared between threads by some compilers,
  ! and so are formats.
  type :: line_type
    character(longest_line) :: text
    integer :: size
  end type

  ! The process in the upper half, the descriptor in the lower one. A word is stored as a whole; where two
  ! threads open the file at once, both descriptors lead to it.
  integer(int64), volatile, save :: opened = 0
  logical, volatile, save :: is_reported = .false.
  ! A disk that fills up took part of a line. It is ended before the next one, so that this is read.
  logical, volatile, save :: is_cut = .false.

  interface
    type(c_ptr) function c_fopen(path, mode) bind(c, name='fopen')
      import :: c_ptr, c_char
      character(kind=c_char), intent(in) :: path(*), mode(*)
    end function
    integer(c_int) function c_fileno(file) bind(c, name='fileno')
      import :: c_ptr, c_int
      type(c_ptr), value :: file
    end function
    integer(c_intptr_t) function c_write(descriptor, bytes, count) bind(c, name='write')
      import :: c_int, c_char, c_size_t, c_intptr_t
      integer(c_int), value :: descriptor
      character(kind=c_char), intent(in) :: bytes(*)
      integer(c_size_t), value :: count
    end function
    integer(c_int) function c_getpid() bind(c, name='getpid')
      import :: c_int
    end function
    integer(c_int) function c_strfromd(text, size, form, value) bind(c, name='strfromd')
      import :: c_int, c_char, c_size_t, c_double
      character(kind=c_char), intent(out) :: text(*)
      integer(c_size_t), value :: size
      character(kind=c_char), intent(in) :: form(*)
      real(c_double), value :: value
    end function
    real(c_double) function c_strtod(text, end) bind(c, name='strtod')
      import :: c_char, c_double, c_ptr
      character(kind=c_char), intent(in) :: text(*)
      type(c_ptr), value :: end
    end function
    subroutine c_perror(text) bind(c, name='perror')
      import :: c_char
      character(kind=c_char), intent(in) :: text(*)
    end subroutine
  end interface

contains

  ! Does this process belong to a run that records metrics?
  recursive logical function sabath_log_is_in_run()
    integer :: length, status
    call get_environment_variable('SABATH_METRICS', length=length, status=status)
    sabath_log_is_in_run = status == 0 .and. length > 0
  end function

  ! Reports a digest of the order that the code has computed itself.
  recursive subroutine sabath_log_sample_order(digest, problem)
    character(*), intent(in) :: digest
    integer, intent(out), optional :: problem
    type(line_type) :: line
    if (.not. may_log(is_name(trim(digest)), problem)) return
    call begin(line)
    call add_key(line, 'sample_order')
    call add_name(line, trim(digest))
    call finish(line, '}', problem)
  end subroutine

  ! Reports samples that have names.
  recursive subroutine sabath_log_sample_names(names, epoch, problem)
    character(*), intent(in) :: names(:)
    integer, intent(in), optional :: epoch
    integer, intent(out), optional :: problem
    type(line_type) :: line
    logical :: is_right
    integer :: i
    is_right = .true.
    do i = 1, size(names)
      is_right = is_right .and. is_name(trim(names(i)))
    end do
    if (.not. may_log(is_right, problem) .or. size(names) == 0) return
    call begin_ids(line, epoch)
    do i = 1, size(names)
      call next_id(line, epoch, problem)
      call add_name(line, trim(names(i)))
    end do
    call finish(line, ']}', problem)
  end subroutine

  recursive subroutine log_ids64(ids, epoch, problem)
    integer(int64), intent(in) :: ids(:)
    integer, intent(in), optional :: epoch
    integer, intent(out), optional :: problem
    type(line_type) :: line
    integer :: i
    if (.not. may_log(.true., problem) .or. size(ids) == 0) return
    call begin_ids(line, epoch)
    do i = 1, size(ids)
      call next_id(line, epoch, problem)
      call add_whole(line, ids(i))
    end do
    call finish(line, ']}', problem)
  end subroutine
  recursive subroutine log_ids32(ids, epoch, problem)
    integer(int32), intent(in) :: ids(:)
    integer, intent(in), optional :: epoch
    integer, intent(out), optional :: problem
    call log_ids64(int(ids, int64), epoch, problem)
  end subroutine

  recursive subroutine log_seed64(part, seed, problem)
    character(*), intent(in) :: part
    integer(int64), intent(in) :: seed
    integer, intent(out), optional :: problem
    type(line_type) :: line
    if (.not. may_log(is_name(trim(part)), problem)) return
    line%size = 0
    call add(line, '{"seeds": {')
    call add_name(line, trim(part))
    call add(line, ': ')
    call add_whole(line, seed)
    call finish(line, '}}', problem)
  end subroutine
  recursive subroutine log_seed32(part, seed, problem)
    character(*), intent(in) :: part
    integer(int32), intent(in) :: seed
    integer, intent(out), optional :: problem
    call log_seed64(part, int(seed, int64), problem)
  end subroutine

  ! Records values of one step and epoch: `names` and `values` have one size.
  recursive subroutine sabath_log_values(names, values, step, epoch, problem)
    character(*), intent(in) :: names(:)
    real(real64), intent(in) :: values(:)
    integer, intent(in), optional :: step, epoch
    integer, intent(out), optional :: problem
    type(line_type) :: line
    logical :: is_right
    integer :: i
    is_right = size(names) == size(values)
    do i = 1, size(names)
      is_right = is_right .and. is_metric(trim(names(i)))
    end do
    if (.not. may_log(is_right, problem) .or. size(names) == 0) return
    call begin(line, step, epoch)
    do i = 1, size(names)
      if (line%size + longest_member > longest_line) then
        call finish(line, '}', problem)
        call begin(line, step, epoch)
      end if
      call add_key(line, trim(names(i)))
      call add_real(line, values(i))
    end do
    call finish(line, '}', problem)
  end subroutine

  recursive subroutine log_real64(name, value, step, epoch, problem)
    character(*), intent(in) :: name
    real(real64), intent(in) :: value
    integer, intent(in), optional :: step, epoch
    integer, intent(out), optional :: problem
    type(line_type) :: line
    if (.not. may_log(is_metric(trim(name)), problem)) return
    call begin(line, step, epoch)
    call add_key(line, trim(name))
    call add_real(line, value)
    call finish(line, '}', problem)
  end subroutine
  recursive subroutine log_real32(name, value, step, epoch, problem)
    character(*), intent(in) :: name
    real(real32), intent(in) :: value
    integer, intent(in), optional :: step, epoch
    integer, intent(out), optional :: problem
    call log_real64(name, real(value, real64), step, epoch, problem)
  end subroutine

  recursive subroutine log_int64(name, value, step, epoch, problem)
    character(*), intent(in) :: name
    integer(int64), intent(in) :: value
    integer, intent(in), optional :: step, epoch
    integer, intent(out), optional :: problem
    type(line_type) :: line
    if (.not. may_log(is_metric(trim(name)), problem)) return
    call begin(line, step, epoch)
    call add_key(line, trim(name))
    call add_whole(line, value)
    call finish(line, '}', problem)
  end subroutine
  recursive subroutine log_int32(name, value, step, epoch, problem)
    character(*), intent(in) :: name
    integer(int32), intent(in) :: value
    integer, intent(in), optional :: step, epoch
    integer, intent(out), optional :: problem
    call log_int64(name, int(value, int64), step, epoch, problem)
  end subroutine

  ! ---- lines ----

  ! Is there a run, and nothing wrong with what it records?
  recursive logical function may_log(is_right, problem)
    logical, intent(in) :: is_right
    integer, intent(out), optional :: problem
    may_log = sabath_log_is_in_run()
    if (present(problem)) problem = 0
    if (.not. may_log .or. is_right) return
    may_log = .false.
    if (present(problem)) problem = 1
    call complain('sabath_log: wrong name or number of values: nothing is recorded; this is reported once')
  end function

  recursive subroutine add(line, text)
    type(line_type), intent(inout) :: line
    character(*), intent(in) :: text
    line%text(line%size + 1:line%size + len(text)) = text
    line%size = line%size + len(text)
  end subroutine

  recursive subroutine add_name(line, name)
    type(line_type), intent(inout) :: line
    character(*), intent(in) :: name
    integer :: i
    call add(line, '"')
    do i = 1, len(name)
      if (name(i:i) == '"' .or. iachar(name(i:i)) == 92) call add(line, achar(92))
      call add(line, name(i:i))
    end do
    call add(line, '"')
  end subroutine

  recursive subroutine add_key(line, name)
    type(line_type), intent(inout) :: line
    character(*), intent(in) :: name
    if (line%size > 1) call add(line, ', ')
    call add_name(line, name)
    call add(line, ': ')
  end subroutine

  recursive subroutine add_whole(line, value)
    type(line_type), intent(inout) :: line
    integer(int64), intent(in) :: value
    character(20) :: text
    integer(int64) :: rest
    integer :: first
    first = len(text) + 1
    rest = value
    do
      first = first - 1
      text(first:first) = achar(48 + abs(mod(rest, 10_int64)))
      rest = rest / 10
      if (rest == 0) exit
    end do
    if (value < 0) call add(line, '-')
    call add(line, text(first:))
  end subroutine

  ! Adds JSON that reads back with the same bits, as Python writes it: 0.1, 1e-07, -0.0.
  recursive subroutine add_real(line, value)
    type(line_type), intent(inout) :: line
    real(real64), intent(in) :: value
    character(48) :: digits
    integer(int64) :: bits
    integer :: power, count
    bits = transfer(value, bits)
    if (iand(shiftr(bits, 52), 2047_int64) == 2047) then
      if (shiftl(bits, 12) /= 0) then
        call add(line, '"NaN"')
      else
        call add(line, trim(merge('"-Infinity"', '"Infinity" ', bits < 0)))
      end if
      return
    end if
    call shortest_digits(value, digits, count, power)
    if (bits < 0) call add(line, '-')
    if (power < -4 .or. power > 15) then
      call add(line, digits(1:1))
      if (count > 1) call add(line, '.' // digits(2:count))
      call add(line, 'e' // merge('-', '+', power < 0))
      if (abs(power) < 10) call add(line, '0')
      call add_whole(line, int(abs(power), int64))
    else if (power < 0) then
      call add(line, '0.' // repeat('0', -power - 1) // digits(:count))
    else if (count > power + 1) then
      call add(line, digits(:power + 1) // '.' // digits(power + 2:count))
    else
      call add(line, digits(:count) // repeat('0', power + 1 - count) // '.0')
    end if
  end subroutine

  ! Splits a finite number into its shortest digits and the power of ten of the first one.
  recursive subroutine shortest_digits(value, digits, count, power)
    real(real64), intent(in) :: value
    character(*), intent(out) :: digits
    integer, intent(out) :: count, power
    character(kind=c_char) :: text(48)
    type(line_type) :: form
    real(real64) :: again
    integer :: precision, i, length, mark
    precision = 14
    if (iand(shiftr(transfer(value, 1_int64), 52), 2047_int64) == 0) precision = 0
    do
      form%size = 0
      call add(form, '%.')
      call add_whole(form, int(precision, int64))
      call add(form, 'e' // c_null_char)
      length = c_strfromd(text, size(text, kind=c_size_t), form%text(:form%size), value)
      again = c_strtod(text, c_null_ptr)
      if (precision >= 16 .or. transfer(again, 1_int64) == transfer(value, 1_int64)) exit
      precision = precision + 1
    end do
    count = 0
    mark = 0
    power = 0
    do i = 1, length  ! the locale's point is skipped
      if (text(i) == 'e') mark = i
      if (text(i) < '0' .or. text(i) > '9') cycle
      if (mark > 0) then
        power = 10 * power + ichar(text(i)) - 48
      else
        count = count + 1
        digits(count:count) = text(i)
      end if
    end do
    if (text(mark + 1) == '-') power = -power
    count = max(1, verify(digits(:count), '0', back=.true.))
  end subroutine

  recursive subroutine begin(line, step, epoch)
    type(line_type), intent(inout) :: line
    integer, intent(in), optional :: step, epoch
    line%size = 0
    call add(line, '{')
    if (present(step)) then
      call add_key(line, 'step')
      call add_whole(line, int(step, int64))
    end if
    if (present(epoch)) then
      call add_key(line, 'epoch')
      call add_whole(line, int(epoch, int64))
    end if
  end subroutine

  recursive subroutine begin_ids(line, epoch)
    type(line_type), intent(inout) :: line
    integer, intent(in), optional :: epoch
    call begin(line, epoch=epoch)
    call add_key(line, 'sample_ids')
    call add(line, '[')
  end subroutine

  ! Makes room for one id, in a new line where this one is full.
  recursive subroutine next_id(line, epoch, problem)
    type(line_type), intent(inout) :: line
    integer, intent(in), optional :: epoch
    integer, intent(inout), optional :: problem
    if (line%size + longest_member > longest_line) then
      call finish(line, ']}', problem)
      call begin_ids(line, epoch)
    end if
    if (line%text(line%size:line%size) /= '[') call add(line, ', ')
  end subroutine

  ! Ends the line and writes it.
  recursive subroutine finish(line, ending, problem)
    type(line_type), intent(inout) :: line
    character(*), intent(in) :: ending
    integer, intent(inout), optional :: problem
    integer(c_int) :: descriptor
    integer(c_intptr_t) :: written
    call add(line, ending // line_end)
    descriptor = descriptor_of_file()
    written = -1
    if (descriptor >= 0 .and. is_cut) is_cut = c_write(descriptor, line_end, 1_c_size_t) /= 1
    if (descriptor >= 0 .and. .not. is_cut) written = c_write(descriptor, line%text, int(line%size, c_size_t))
    if (written == line%size) return
    if (present(problem)) problem = 1
    if (descriptor < 0) return
    call complain_of_system('$SABATH_METRICS: a line of metrics is lost')
    if (written > 0) is_cut = .true.
  end subroutine

  ! ---- the file ----

  ! The value of a variable, of no bytes where it is not set.
  recursive subroutine read_variable(name, value)
    character(*), intent(in) :: name
    type(line_type), intent(out) :: value
    integer :: status
    call get_environment_variable(name, value%text, value%size, status)
    if (status /= 0) value%size = 0
  end subroutine

  ! The rank of this process where a launcher started several, else of no bytes. `sabath` sets $SABATH_RANK
  ! where $SABATH_METRICS is already the file of the rank.
  recursive subroutine read_rank(rank)
    type(line_type), intent(out) :: rank
    character(20), parameter :: ranks(3) = [character(20) :: 'OMPI_COMM_WORLD_RANK', 'PMI_RANK', 'SLURM_PROCID']
    character(20), parameter :: counts(3) = [character(20) :: 'OMPI_COMM_WORLD_SIZE', 'PMI_SIZE', 'SLURM_STEP_NUM_TASKS']
    type(line_type) :: count
    integer :: i
    call read_variable('SABATH_RANK', rank)
    if (rank%size > 0) then
      rank%size = 0
      return
    end if
    do i = 1, 3
      call read_variable(trim(ranks(i)), rank)
      call read_variable(trim(counts(i)), count)
      if (rank%size > 0 .and. count%size > 0 .and. count%text(:count%size) /= '1') exit
      rank%size = 0
    end do
    if (verify(rank%text(:rank%size), '0123456789') /= 0) rank%size = 0
  end subroutine

  ! Opens the file for appending, once in a process; a forked one opens its own. Returns -1 where it fails.
  recursive integer(c_int) function descriptor_of_file()
    integer(int64) :: process, known
    type(line_type) :: path, rank
    type(c_ptr) :: file
    process = int(c_getpid(), int64) * 2_int64**32
    known = opened
    descriptor_of_file = int(iand(known, 2_int64**32 - 1), c_int)
    if (known - descriptor_of_file == process) return
    call read_variable('SABATH_METRICS_DIR', path)
    rank%size = 0
    if (path%size > 0) call read_rank(rank)
    if (rank%size > 0) then
      call add(path, '/metrics-' // rank%text(:rank%size) // '.jsonl')
    else
      call read_variable('SABATH_METRICS', path)
    end if
    file = c_fopen(path%text(:path%size) // c_null_char, 'ae' // c_null_char)  ! e: closed where a program is started
    if (.not. c_associated(file)) then
      descriptor_of_file = -1
      call complain_of_system(path%text(:path%size) // ': cannot be written')
      return
    end if
    descriptor_of_file = c_fileno(file)
    opened = process + descriptor_of_file
  end function

  ! Writes a message for people with the system's reason, once in a process.
  recursive subroutine complain_of_system(text)
    character(*), intent(in) :: text
    if (.not. is_reported) call c_perror('sabath_log: ' // text // c_null_char)
    is_reported = .true.
  end subroutine

  ! Writes a message for people, once in a process.
  recursive subroutine complain(text)
    character(*), intent(in) :: text
    integer(c_intptr_t) :: written
    if (is_reported) return
    is_reported = .true.
    written = c_write(2_c_int, text // line_end, int(len(text) + 1, c_size_t))
    if (written < 0) return
  end subroutine

  ! ---- names ----

  ! Is `name` UTF-8 without control characters, of at most 200 bytes?
  pure logical function is_name(name)
    character(*), intent(in) :: name
    integer :: i, j, length, code, least(4)
    least = [32, 128, 2048, 65536]
    is_name = len(name) > 0 .and. len(name) <= longest_name
    i = 1
    do while (is_name .and. i <= len(name))
      code = ichar(name(i:i))
      length = 1 + count(code >= [192, 224, 240])
      is_name = code /= 127 .and. (code < 128 .or. code >= 192) .and. code < 248 .and. i + length - 1 <= len(name)
      if (.not. is_name) return
      if (length > 1) code = iand(code, 2**(7 - length) - 1)
      do j = i + 1, i + length - 1
        is_name = is_name .and. iand(ichar(name(j:j)), 192) == 128
        code = 64 * code + iand(ichar(name(j:j)), 63)
      end do
      is_name = is_name .and. code >= least(length) .and. code <= 1114111 .and. (code < 55296 .or. code > 57343)
      i = i + length
    end do
  end function

  ! Is `name` the name of a metric, and not that of another member of a line?
  pure logical function is_metric(name)
    character(*), intent(in) :: name
    is_metric = is_name(name) .and. .not. (name == 'step' .or. name == 'epoch' .or. name == 'time' .or. &
      name == 'seeds' .or. name == 'sample_ids' .or. name == 'sample_order')
  end function
end module
