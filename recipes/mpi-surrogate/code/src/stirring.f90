! A tracer that a wind carries, vortices stir and diffusion evens out, in the periodic unit square:
!
!     dc/dt + div(v c) = D laplace(c),   v = wind + A (dpsi/dy, -dpsi/dx),
!     psi = sin(2 pi x) sin(2 pi y) / (2 pi),   c(0) = 1 + cos(2 pi (x - phase)) cos(2 pi y)
!
! Finite volumes on a block of the grid for each rank of MPI_COMM_WORLD: values at faces and their
! slopes are interpolated to the fourth order from two cells on either side, which halos bring from the
! neighbours; Runge-Kutta of the fourth order in time. What leaves a cell enters the next, so the mean is
! kept to rounding. No cell's arithmetic depends on where the blocks end, so neither do the fields' bits;
! those of sums do. Many cases are advanced at once, so that each message carries the halos of all.
module stirring
  use, intrinsic :: iso_c_binding, only: c_int, c_double, c_bool
  use mpi
  implicit none
  private
  public :: stirring_advance

  integer, parameter :: dp = c_double
  integer, parameter :: halo = 2
  real(dp), parameter :: pi = 3.14159265358979323846_dp

  type, bind(c), public :: stirring_case
    real(c_double) :: strength, wind_x, wind_y, diffusivity, phase
  end type

  ! This rank's part of the grid.
  type :: grid_block
    integer :: communicator
    integer :: west, east, south, north   ! ranks of the neighbours
    integer :: first(2), cells(2)         ! cells before it, and in it
    integer :: grid_cells
    real(dp) :: width                     ! of a cell
  end type

contains

  ! Advances `count` cases to `time` on cells x cells cells in `steps` steps. Each rank gets the mean
  ! after over the mean before, minus one; and the variance after over that before. Rank 0 gets the
  ! fields where `wants_fields`, x fastest. Returns 0, or 1 where the blocks would be too small.
  function stirring_advance(cells, time, steps, count, cases, drift, ratio, wants_fields, fields) &
      result(status) bind(c)
    integer(c_int), value :: cells, steps, count
    real(c_double), value :: time
    type(stirring_case), intent(in) :: cases(count)
    real(c_double), intent(out) :: drift(count), ratio(count)
    logical(c_bool), value :: wants_fields
    real(c_double), intent(inout) :: fields(*)
    integer(c_int) :: status
    type(grid_block) :: block
    real(dp), allocatable :: c(:, :, :), stream_x(:, :), stream_y(:, :)
    real(dp) :: before(count), after(count), variance_before(count), variance_after(count)
    integer :: step, code
    logical :: fits

    call make_block(cells, block, fits)
    status = merge(0, 1, fits)
    if (fits) then
      allocate(c(1 - halo:block%cells(1) + halo, 1 - halo:block%cells(2) + halo, count))
      call set_stream(block, stream_x, stream_y)
      call set_initial(block, cases, c)
      call moments(block, c, before, variance_before)
      do step = 1, steps
        call runge_kutta_step(block, cases, stream_x, stream_y, time / steps, c)
      end do
      call moments(block, c, after, variance_after)
      drift = after / before - 1
      ratio = variance_after / variance_before
      if (wants_fields) call gather(block, c, fields)
    end if
    call MPI_Comm_free(block%communicator, code)
  end function

  subroutine make_block(cells, block, fits)
    integer, intent(in) :: cells
    type(grid_block), intent(out) :: block
    logical, intent(out) :: fits
    integer :: ranks, rank, parts(2), place(2), smallest, code

    call MPI_Comm_size(MPI_COMM_WORLD, ranks, code)
    parts = 0
    call MPI_Dims_create(ranks, 2, parts, code)
    call MPI_Cart_create(MPI_COMM_WORLD, 2, parts, [.true., .true.], .false., block%communicator, code)
    call MPI_Comm_rank(block%communicator, rank, code)
    call MPI_Cart_coords(block%communicator, rank, 2, place, code)
    call MPI_Cart_shift(block%communicator, 0, 1, block%west, block%east, code)
    call MPI_Cart_shift(block%communicator, 1, 1, block%south, block%north, code)
    block%first = cells * place / parts
    block%cells = cells * (place + 1) / parts - block%first
    block%grid_cells = cells
    block%width = 1.0_dp / cells
    call MPI_Allreduce(minval(block%cells), smallest, 1, MPI_INTEGER, MPI_MIN, block%communicator, code)
    fits = smallest >= halo
  end subroutine

  ! The mean speed through each face for a strength of 1: differences of the stream function between the
  ! ends of the face, so that as much flows into each cell as out of it.
  subroutine set_stream(block, stream_x, stream_y)
    type(grid_block), intent(in) :: block
    real(dp), allocatable, intent(out) :: stream_x(:, :), stream_y(:, :)
    real(dp) :: wave(0:block%grid_cells), psi(0:block%cells(1), 0:block%cells(2))
    integer :: i, j

    do i = 0, block%grid_cells - 1
      wave(i) = sin(2 * pi * i * block%width)
    end do
    wave(block%grid_cells) = wave(0)
    do j = 0, block%cells(2)
      do i = 0, block%cells(1)
        psi(i, j) = wave(block%first(1) + i) * wave(block%first(2) + j) / (2 * pi)
      end do
    end do
    allocate(stream_x(0:block%cells(1), block%cells(2)), stream_y(block%cells(1), 0:block%cells(2)))
    do j = 1, block%cells(2)
      stream_x(:, j) = (psi(:, j) - psi(:, j - 1)) / block%width
    end do
    do i = 1, block%cells(1)
      stream_y(i, :) = -(psi(i, :) - psi(i - 1, :)) / block%width
    end do
  end subroutine

  ! Means over cells, not values at their centres.
  subroutine set_initial(block, cases, c)
    type(grid_block), intent(in) :: block
    type(stirring_case), intent(in) :: cases(:)
    real(dp), intent(out) :: c(1 - halo:, 1 - halo:, :)
    real(dp) :: wave_x(block%grid_cells), wave_y(block%grid_cells), mean_of_wave
    integer :: i, j, k

    c = 0
    mean_of_wave = (sin(pi * block%width) / (pi * block%width)) ** 2
    call set_wave(block, 0.0_dp, wave_y)
    do k = 1, size(cases)
      call set_wave(block, cases(k)%phase, wave_x)
      do j = 1, block%cells(2)
        do i = 1, block%cells(1)
          c(i, j, k) = 1 + mean_of_wave * wave_x(block%first(1) + i) * wave_y(block%first(2) + j)
        end do
      end do
    end do
  end subroutine

  ! Over the whole grid on every rank: compilers take another cosine for two at a time than for one that
  ! is left over, with another last bit.
  subroutine set_wave(block, phase, wave)
    type(grid_block), intent(in) :: block
    real(dp), intent(in) :: phase
    real(dp), intent(out) :: wave(:)
    integer :: i

    do i = 1, block%grid_cells
      wave(i) = cos(2 * pi * ((i - 0.5_dp) * block%width - phase))
    end do
  end subroutine

  subroutine runge_kutta_step(block, cases, stream_x, stream_y, dt, c)
    type(grid_block), intent(in) :: block
    type(stirring_case), intent(in) :: cases(:)
    real(dp), intent(in) :: stream_x(0:, :), stream_y(:, 0:), dt
    real(dp), intent(inout) :: c(1 - halo:, 1 - halo:, :)
    real(dp), parameter :: ahead(4) = [0.5_dp, 0.5_dp, 1.0_dp, 0.0_dp]
    real(dp), parameter :: weight(4) = [1.0_dp, 2.0_dp, 2.0_dp, 1.0_dp]
    real(dp) :: slope(block%cells(1), block%cells(2), size(cases)), sum_of_slopes(block%cells(1), &
      block%cells(2), size(cases)), at(1 - halo:block%cells(1) + halo, 1 - halo:block%cells(2) + halo, &
      size(cases))
    integer :: stage, nx, ny

    nx = block%cells(1)
    ny = block%cells(2)
    at = c
    sum_of_slopes = 0
    do stage = 1, 4
      call exchange_halos(block, at)
      call find_slope(block, cases, stream_x, stream_y, at, slope)
      sum_of_slopes = sum_of_slopes + weight(stage) * slope
      at(1:nx, 1:ny, :) = c(1:nx, 1:ny, :) + ahead(stage) * dt * slope
    end do
    c(1:nx, 1:ny, :) = c(1:nx, 1:ny, :) + dt / 6 * sum_of_slopes
  end subroutine

  subroutine find_slope(block, cases, stream_x, stream_y, c, slope)
    type(grid_block), intent(in) :: block
    type(stirring_case), intent(in) :: cases(:)
    real(dp), intent(in) :: stream_x(0:, :), stream_y(:, 0:), c(1 - halo:, 1 - halo:, :)
    real(dp), intent(out) :: slope(:, :, :)
    real(dp) :: flux_x(0:block%cells(1)), flux_y(block%cells(1), 0:block%cells(2))
    integer :: i, j, k, nx, ny

    nx = block%cells(1)
    ny = block%cells(2)
    do k = 1, size(cases)
      do j = 0, ny
        do i = 1, nx
          flux_y(i, j) = flux(cases(k)%wind_y + cases(k)%strength * stream_y(i, j), &
            cases(k)%diffusivity / block%width, c(i, j - 1, k), c(i, j, k), c(i, j + 1, k), c(i, j + 2, k))
        end do
      end do
      do j = 1, ny
        do i = 0, nx
          flux_x(i) = flux(cases(k)%wind_x + cases(k)%strength * stream_x(i, j), &
            cases(k)%diffusivity / block%width, c(i - 1, j, k), c(i, j, k), c(i + 1, j, k), c(i + 2, j, k))
        end do
        do i = 1, nx
          slope(i, j, k) = (flux_x(i - 1) - flux_x(i) + flux_y(i, j - 1) - flux_y(i, j)) / block%width
        end do
      end do
    end do
  end subroutine

  ! Through the face between `left` and `right`, from the means of four cells in a row.
  pure function flux(speed, diffusion, far_left, left, right, far_right) result(through)
    real(dp), intent(in) :: speed, diffusion, far_left, left, right, far_right
    real(dp) :: through
    through = speed * (7 * (left + right) - (far_left + far_right)) / 12 &
      - diffusion * (15 * (right - left) - (far_right - far_left)) / 12
  end function

  subroutine exchange_halos(block, c)
    type(grid_block), intent(in) :: block
    real(dp), intent(inout) :: c(1 - halo:, 1 - halo:, :)
    integer :: nx, ny, all

    nx = block%cells(1)
    ny = block%cells(2)
    all = block%communicator
    call shift(all, block%west, block%east, c(1:halo, 1:ny, :), c(nx + 1:nx + halo, 1:ny, :))
    call shift(all, block%east, block%west, c(nx - halo + 1:nx, 1:ny, :), c(1 - halo:0, 1:ny, :))
    call shift(all, block%south, block%north, c(1:nx, 1:halo, :), c(1:nx, ny + 1:ny + halo, :))
    call shift(all, block%north, block%south, c(1:nx, ny - halo + 1:ny, :), c(1:nx, 1 - halo:0, :))
  end subroutine

  subroutine shift(communicator, to, from, edge, beyond)
    integer, intent(in) :: communicator, to, from
    real(dp), intent(in) :: edge(:, :, :)
    real(dp), intent(out) :: beyond(:, :, :)
    real(dp) :: sent(size(edge)), received(size(beyond))
    integer :: code

    sent = reshape(edge, [size(edge)])
    call MPI_Sendrecv(sent, size(sent), MPI_DOUBLE_PRECISION, to, 0, received, size(received), &
      MPI_DOUBLE_PRECISION, from, 0, communicator, MPI_STATUS_IGNORE, code)
    beyond = reshape(received, shape(beyond))
  end subroutine

  subroutine moments(block, c, mean, variance)
    type(grid_block), intent(in) :: block
    real(dp), intent(in) :: c(1 - halo:, 1 - halo:, :)
    real(dp), intent(out) :: mean(:), variance(:)
    real(dp) :: part(size(mean)), cells
    integer :: k, nx, ny, code

    nx = block%cells(1)
    ny = block%cells(2)
    cells = real(block%grid_cells, dp) ** 2
    do k = 1, size(mean)
      part(k) = sum(c(1:nx, 1:ny, k)) / cells
    end do
    call MPI_Allreduce(part, mean, size(mean), MPI_DOUBLE_PRECISION, MPI_SUM, block%communicator, code)
    do k = 1, size(mean)
      part(k) = sum((c(1:nx, 1:ny, k) - mean(k)) ** 2) / cells
    end do
    call MPI_Allreduce(part, variance, size(mean), MPI_DOUBLE_PRECISION, MPI_SUM, block%communicator, code)
  end subroutine

  ! Each cell is added to zeros, which changes no bit of it.
  subroutine gather(block, c, fields)
    type(grid_block), intent(in) :: block
    real(dp), intent(in) :: c(1 - halo:, 1 - halo:, :)
    real(dp), intent(inout) :: fields(*)
    real(dp), allocatable :: own(:, :, :)
    integer :: below(2), above(2), code

    allocate(own(block%grid_cells, block%grid_cells, size(c, 3)))
    own = 0
    below = block%first
    above = below + block%cells
    own(below(1) + 1:above(1), below(2) + 1:above(2), :) = c(1:block%cells(1), 1:block%cells(2), :)
    call MPI_Reduce(own, fields, size(own), MPI_DOUBLE_PRECISION, MPI_SUM, 0, block%communicator, code)
  end subroutine

end module
