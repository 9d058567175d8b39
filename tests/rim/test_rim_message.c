// Contact rows of an interface model as messages: the micro steps of another RIM have the same bits, and damaged messages are refused.
#include "check.h"

#include "cosim/cosim.h"
#include "interim/interim.h"
#include "rim/message.h"
#include "scenes/scenes.h"

#define STEPS 80  // macro steps: the manipulator pushes the block
#define MICRO 20

// A RIM with room for n interfaces that is not part of a mechanism.
static void make_rim(ItmRim* rim, const ItmRim* of, double* reals)
{
    double** arrays[] = {&rim->a0, &rim->s, &rim->w, &rim->w_next, &rim->P0, &rim->P1, &rim->work};
    const double* from[] = {of->a0, of->s, of->w, of->w_next, of->P0, of->P1, of->work};
    size_t n = (size_t)of->n;
    *rim = (ItmRim){.n = of->n, .H = of->H, .use_heun = of->use_heun, .W = reals};
    memcpy(rim->W, of->W, sizeof(double) * n * n);
    for (size_t i = 0; i < 7; i++) {
        *arrays[i] = reals + n * n + i * n;
        memcpy(*arrays[i], from[i], sizeof(double) * n);
    }
}

typedef struct Fixture {
    ItmModelFile* file;
    ItmCosim* x;
    ItmRim* rim;
    char* bytes;
    size_t size;
} Fixture;

// The arm in contact with the block, its macro step begun, its rows written.
static void begin(Fixture* f)
{
    ItmError error = {0};
    CHECK_OK(itm_example_load(&f->file, "manipulator", NULL, 0, &error), &error);
    CHECK_OK(itm_file_create_cosim(&f->x, f->file, NULL, &error), &error);
    for (int k = 0; k < STEPS; k++) {
        CHECK_OK(itm_cosim_step(f->x), itm_cosim_get_error(f->x));
    }
    ItmMechanism* part = &f->x->mechanisms[0];
    f->rim = &part->rim;
    itm_mechanism_measure(f->x, part);
    itm_mechanism_reduce(f->x, part, 0);
    CHECK_OK(part->status, &part->error);
    CHECK_OK(itm_rim_begin(f->rim, MICRO, true), &part->error);
    const ItmRowProblem* rows = &f->rim->contacts.problem;
    assert_true(rows->n > 0 && rows->ncoupling > 0);
    f->size = itm_rim_measure_message(f->rim->n, rows->n, rows->ncoupling);
    f->bytes = calloc(1, f->size);
    itm_rim_write_rows(f->rim, f->bytes);
}

static void end(Fixture* f)
{
    free(f->bytes);
    itm_cosim_destroy(f->x);
    itm_file_destroy(f->file);
}

static void micro_steps_elsewhere_have_the_same_bits(void** state)
{
    (void)state;
    Fixture f;
    ItmError error = {0};
    double reals[2 * 2 + 7 * 2], ignored[2], lambda[2];
    ItmRim other;
    ItmRimRoom* room = calloc(1, sizeof *room);
    begin(&f);
    assert_int_equal(f.rim->n, 2);
    make_rim(&other, f.rim, reals);
    CHECK_OK(itm_rim_read_rows(&other, room, f.bytes, f.size, &error), &error);
    CHECK_OK(itm_rim_begin(&other, MICRO, true), &error);  // the rows have begun already
    int nc = f.rim->contacts.problem.n;
    char* home = calloc(1, f.size);
    // forces that let the ball stick, slide and leave: the active set changes
    for (int k = 0; k < MICRO; k++) {
        double h = f.rim->H / MICRO;
        lambda[0] = 9e3 + 4e3 * sin(0.9 * k);
        lambda[1] = -2e3 * k;
        CHECK_OK(itm_rim_advance(f.rim, h, lambda), &f.rim->data->error);
        CHECK_OK(itm_rim_advance(&other, h, lambda), &other.data->error);
        assert_memory_equal(f.rim->w, other.w, sizeof ignored);
        assert_memory_equal(f.rim->s, other.s, sizeof ignored);
    }
    itm_rim_write_results(f.rim, lambda, home);
    memset(f.bytes, 0, f.size);
    itm_rim_write_results(&other, lambda, f.bytes);
    assert_memory_equal(home + sizeof(ItmRimMessage), f.bytes + sizeof(ItmRimMessage), f.size - sizeof(ItmRimMessage));
    assert_true(f.rim->contacts.nsolve > 0);
    memset(f.rim->contacts.Q0, 0, sizeof(double) * (size_t)nc);
    assert_true(itm_rim_read_results(f.rim, ignored, f.bytes));
    assert_memory_equal(f.rim->contacts.Q0, other.contacts.Q0, sizeof(double) * (size_t)nc);
    assert_memory_equal(ignored, lambda, sizeof lambda);
    free(home);
    itm_rim_free_room(room);
    free(room);
    end(&f);
}

static void damaged_messages_are_refused(void** state)
{
    (void)state;
    Fixture f;
    double reals[2 * 2 + 7 * 2], ignored[2];
    ItmRim other;
    ItmError error = {0};
    ItmRimRoom* room = calloc(1, sizeof *room);
    begin(&f);
    make_rim(&other, f.rim, reals);
    // headers: another build, sizes, a result instead of rows
    for (int k = 0; k < 6; k++) {
        ItmRimMessage m;
        char* bytes = malloc(f.size);
        memcpy(bytes, f.bytes, f.size);
        memcpy(&m, bytes, sizeof m);
        m.build[0] = k == 0 ? 'X' : m.build[0];
        m.size += k == 1;
        m.n += k == 2;
        m.nc += k == 3 ? 1000000 : 0;
        m.ncoupling = k == 4 ? -1 : m.ncoupling;
        m.is_result = k == 5;
        memcpy(bytes, &m, sizeof m);
        assert_int_equal(itm_rim_read_rows(&other, room, bytes, f.size, &error), ITM_ERR_INPUT);
        assert_int_equal(other.contacts.problem.n, 0);
        free(bytes);
    }
    assert_false(itm_rim_read_results(f.rim, ignored, f.bytes));
    // every byte of rows and couplings: refused, or numbers that are no names of rows
    const ItmRowProblem* p = &f.rim->contacts.problem;
    size_t start = (sizeof(ItmRimMessage) + 7) / 8 * 8, refused = 0;
    size_t stop = start + (size_t)p->n * sizeof(ItmRow) + (size_t)p->ncoupling * sizeof(ItmMlcpContact);
    for (size_t i = start; i < stop; i++) {
        f.bytes[i] = (char)(f.bytes[i] ^ 0x55);
        refused += itm_rim_read_rows(&other, room, f.bytes, f.size, &error) != ITM_OK;
        f.bytes[i] = (char)(f.bytes[i] ^ 0x55);
    }
    // kind and normal of the rows; normal and tangents of the couplings: three or four bytes each
    assert_true(refused >= (size_t)(p->n * 2 * 3 + p->ncoupling * 3 * 3));
    assert_int_equal(itm_rim_read_rows(&other, room, f.bytes, f.size, &error), ITM_OK);
    itm_rim_free_room(room);
    free(room);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(micro_steps_elsewhere_have_the_same_bits),
        cmocka_unit_test(damaged_messages_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
