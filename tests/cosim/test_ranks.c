// One system over several processes: here threads with queues between them. Whatever the placement, the bits are those of one process.
#include "system.h"

#include "cosim/cosim.h"

#include <pthread.h>

enum { MOST_RANKS = 4, LIVES = 1000000 };

// ---------------------------------------------------------------------------- messages between threads

typedef struct Message {
    struct Message* next;
    size_t size;
    char bytes[];
} Message;

typedef struct Net {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    Message* queues[MOST_RANKS][MOST_RANKS];  // by sender and receiver, the oldest first
    bool is_dead[MOST_RANKS];
} Net;

typedef struct Rank {
    Net* net;
    int rank, count;
    int lives;  // messages that it receives before it dies
    const ItmModelFile* file;
    ItmStatus status;
    ItmError error;
} Rank;

static ItmStatus send_message(void* self, int to, const void* bytes, size_t size, ItmError* error)
{
    Rank* r = self;
    (void)error;
    Message* message = malloc(sizeof *message + size);
    *message = (Message){.size = size};
    memcpy(message->bytes, bytes, size);
    pthread_mutex_lock(&r->net->mutex);
    Message** at = &r->net->queues[r->rank][to];
    while (*at != NULL) {
        at = &(*at)->next;
    }
    *at = message;
    pthread_cond_broadcast(&r->net->changed);
    pthread_mutex_unlock(&r->net->mutex);
    return ITM_OK;
}

static ItmStatus report_death(ItmError* error, int rank)
{
    *error = (ItmError){.status = ITM_ERR_IO};
    snprintf(error->message, sizeof error->message, "rank %d has died", rank);
    return ITM_ERR_IO;
}

static ItmStatus receive_message(void* self, int from, void* bytes, size_t room, size_t* size, ItmError* error)
{
    Rank* r = self;
    pthread_mutex_lock(&r->net->mutex);
    if (r->lives-- <= 0) {
        r->net->is_dead[r->rank] = true;
        pthread_cond_broadcast(&r->net->changed);
        pthread_mutex_unlock(&r->net->mutex);
        return report_death(error, r->rank);
    }
    Message** at = &r->net->queues[from][r->rank];
    while (*at == NULL && !r->net->is_dead[from]) {
        pthread_cond_wait(&r->net->changed, &r->net->mutex);
    }
    Message* message = *at;
    if (message != NULL) {
        *at = message->next;
    }
    pthread_mutex_unlock(&r->net->mutex);
    if (message == NULL) {
        return report_death(error, from);
    }
    *size = message->size;
    memcpy(bytes, message->bytes, message->size < room ? message->size : room);
    free(message);
    return ITM_OK;
}

static ItmTransport make_transport(Rank* r)
{
    return (ItmTransport){
        .self = r, .rank = r->rank, .count = r->count, .send = send_message, .receive = receive_message};
}

static void* serve(void* context)
{
    Rank* r = context;
    ItmCosim* x = NULL;
    ItmTransport transport = make_transport(r);
    r->status = itm_file_create_cosim(&x, r->file, NULL, &r->error);
    r->status = r->status == ITM_OK ? itm_ranks_join(x, &transport, NULL, &r->error) : r->status;
    r->status = r->status == ITM_OK ? itm_ranks_serve(x, &r->error) : r->status;
    itm_cosim_destroy(x);
    return NULL;
}

// ---------------------------------------------------------------------------- a system over threads

typedef struct Cluster {
    Net net;
    Rank ranks[MOST_RANKS];
    pthread_t threads[MOST_RANKS];
    int count;
    System s;  // of rank 0
} Cluster;

static void start(Cluster* c, const char* path, const char* const* overrides, int n, int count,
                  const ItmPlacement* places, int nplace, int lives)
{
    memset(c, 0, sizeof *c);
    pthread_mutex_init(&c->net.mutex, NULL);
    pthread_cond_init(&c->net.changed, NULL);
    c->count = count;
    c->s = system_load(path, overrides, n);
    for (int i = 0; i < count; i++) {
        c->ranks[i] = (Rank){.net = &c->net, .rank = i, .count = count, .file = c->s.file, .lives = LIVES};
        if (i > 0) {
            c->ranks[i].lives = i == count - 1 ? lives : LIVES;
            assert_int_equal(pthread_create(&c->threads[i], NULL, serve, &c->ranks[i]), 0);
        }
    }
    int ranks[64];
    ItmError error = {0};
    ItmCosim* trial = NULL;
    ItmTransport transport = make_transport(&c->ranks[0]);
    CHECK_OK(itm_file_create_cosim(&trial, c->s.file, NULL, &error), &error);
    assert_true(itm_cosim_get_mechanism_count(trial) + itm_cosim_get_subsystem_count(trial) <= 64);
    CHECK_OK(itm_ranks_choose(ranks, trial, count, 0.0, places, nplace, &error), &error);
    itm_cosim_destroy(trial);
    CHECK_OK(itm_ranks_join(c->s.x, &transport, ranks, &error), &error);
}

static void end(Cluster* c)
{
    system_finish(&c->s);
    for (int i = 1; i < c->count; i++) {
        pthread_join(c->threads[i], NULL);
    }
    for (int i = 0; i < c->count * MOST_RANKS; i++) {
        Message** at = &c->net.queues[i / MOST_RANKS][i % MOST_RANKS];
        while (*at != NULL) {
            Message* message = *at;
            *at = message->next;
            free(message);
        }
    }
    pthread_cond_destroy(&c->net.changed);
    pthread_mutex_destroy(&c->net.mutex);
}

static void expect_same_outputs(System* a, System* b)
{
    CHECK_OK(itm_cosim_compute_outputs(a->x, a->y), itm_cosim_get_error(a->x));
    CHECK_OK(itm_cosim_compute_outputs(b->x, b->y), itm_cosim_get_error(b->x));
    for (int i = 0; i < itm_cosim_get_output_count(a->x); i++) {
        if (memcmp(&a->y[i], &b->y[i], sizeof(double)) != 0) {
            fail_msg("%s is %.17g in one process, %.17g in several, at %g s", itm_cosim_get_output_info(a->x, i).name,
                     a->y[i], b->y[i], itm_cosim_get_time(a->x));
        }
    }
}

static void expect_same_states(System* a, System* b)
{
    size_t size = itm_cosim_get_state_size(a->x);
    char *first = calloc(size, 1), *second = calloc(size, 1);
    assert_int_equal(itm_cosim_get_state_size(b->x), size);
    CHECK_OK(itm_cosim_save(a->x, first, size), itm_cosim_get_error(a->x));
    CHECK_OK(itm_cosim_save(b->x, second, size), itm_cosim_get_error(b->x));
    assert_memory_equal(first, second, size);
    free(first);
    free(second);
}

typedef struct Case {
    const char* path;
    const char* overrides[4];
    int noverride, nstep, count;
    ItmPlacement places[8];
    int nplace;
    int nown;  // parts of rank 0
} Case;

static void expect_same_bits(const Case* it)
{
    Cluster c;
    System alone = system_load(it->path, it->overrides, it->noverride);
    start(&c, it->path, it->overrides, it->noverride, it->count, it->places, it->nplace, LIVES);
    CHECK_CASE("%s %s %s over %d ranks", it->path, it->noverride > 0 ? it->overrides[0] : "",
               it->noverride > 1 ? it->overrides[1] : "", it->count);
    assert_int_equal(itm_ranks_get_info(c.s.x).nown, it->nown);
    expect_same_outputs(&alone, &c.s);
    for (int i = 0; i < it->nstep; i++) {
        system_step(&alone);
        system_step(&c.s);
        if (i % 16 == 3) {
            expect_same_outputs(&alone, &c.s);
        }
    }
    expect_same_outputs(&alone, &c.s);
    expect_same_states(&alone, &c.s);
    end(&c);
    system_finish(&alone);
}

// ---------------------------------------------------------------------------- cases

#define CRANE_APART .places = {{"crane", 0}, {"hydraulics", 1}}, .nplace = 2, .nown = 1

static void a_mechanism_and_its_circuit_on_two_ranks_have_the_bits_of_one_process(void** state)
{
    (void)state;
    static const Case CASES[] = {
        {ITM_SOURCE_DIR "/examples/crane-double.yaml", {""}, 0, 200, 2, CRANE_APART},
        {ITM_SOURCE_DIR "/examples/crane-double.yaml",
         {"cosim.exchange=hold", "cosim.macro_step=2ms"},
         2,
         200,
         2,
         CRANE_APART},
        {ITM_SOURCE_DIR "/examples/crane-double.yaml",
         {"cosim.exchange=hold", "cosim.variables=velocity-pressure", "cosim.macro_step=2ms"},
         3,
         200,
         2,
         CRANE_APART},
        {ITM_SOURCE_DIR "/examples/crane-double.yaml",
         {"cosim.coupling=zoh", "cosim.macro_step=2ms"},
         2,
         200,
         2,
         CRANE_APART},
        {ITM_SOURCE_DIR "/examples/crane-double.yaml",
         {"cosim.coupling=quadratic", "cosim.scheme=gauss-seidel", "cosim.macro_step=0.5ms"},
         3,
         200,
         2,
         CRANE_APART},
        {ITM_SOURCE_DIR "/examples/crane-double.yaml",
         {""},
         0,
         50,
         2,
         .places = {{"crane", 1}, {"hydraulics", 0}},
         .nplace = 2,
         .nown = 1},
        {ITM_SOURCE_DIR "/examples/crane-double.yaml",
         {""},
         0,
         50,
         3,
         .places = {{"crane", 2}, {"hydraulics", 1}},
         .nplace = 2,
         .nown = 0},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        expect_same_bits(&CASES[i]);
    }
}

// The rows of the gripper's contacts travel with the interface model.
static void contacts_in_an_interface_model_travel_with_it(void** state)
{
    (void)state;
    static const Case CASE = {
        ITM_SOURCE_DIR "/examples/log-crane.yaml", {"cosim.contact_renewals=0"}, 1, 400, 2, CRANE_APART};
    expect_same_bits(&CASE);
}

// Controls sample the motion of a mechanism on another rank, at the point that a step has reached too.
static void controls_sample_a_mechanism_on_another_rank(void** state)
{
    (void)state;
    static const Case CASES[] = {
        {ITM_SOURCE_DIR "/examples/excavator.yaml",
         {"cosim.contact_renewals=0"},
         1,
         100,
         2,
         .places = {{"exc", 1}, {"hydraulics", 0}},
         .nplace = 2,
         .nown = 2},
        {ITM_SOURCE_DIR "/examples/mobile-crane.yaml",
         {""},
         0,
         100,
         3,
         .places = {{"crane", 1}, {"hydraulics", 5}},
         .nplace = 2,
         .nown = 0},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        expect_same_bits(&CASES[i]);
    }
}

// Frames join crane and load to one unit: the third rank has nothing to do.
static void joined_mechanisms_stay_together(void** state)
{
    (void)state;
    static const Case CASE = {
        ITM_SOURCE_DIR "/examples/crane-cut.yaml", {""}, 0, 60, 3, .places = {{"load", 1}}, .nplace = 1, .nown = 0};
    expect_same_bits(&CASE);
}

static void a_system_that_is_reset_or_restored_goes_on_with_the_same_bits(void** state)
{
    (void)state;
    Cluster c;
    const char* path = ITM_SOURCE_DIR "/examples/crane-double.yaml";
    System alone = system_load(path, NULL, 0);
    start(&c, path, NULL, 0, 2, (ItmPlacement[]){{"crane", 0}, {"hydraulics", 1}}, 2, LIVES);
    size_t size = itm_cosim_get_state_size(alone.x);
    char* bytes = malloc(size);
    for (int i = 0; i < 20; i++) {
        system_step(&alone);
        system_step(&c.s);
    }
    CHECK_OK(itm_cosim_save(alone.x, bytes, size), itm_cosim_get_error(alone.x));
    CHECK_OK(itm_cosim_reset(c.s.x), itm_cosim_get_error(c.s.x));
    assert_true(itm_cosim_get_time(c.s.x) == 0.0);
    system_step(&c.s);
    CHECK_OK(itm_cosim_restore(c.s.x, bytes, size), itm_cosim_get_error(c.s.x));
    for (int i = 0; i < 20; i++) {
        system_step(&alone);
        system_step(&c.s);
    }
    expect_same_outputs(&alone, &c.s);
    expect_same_states(&alone, &c.s);
    assert_int_equal(itm_cosim_set_macro_step(c.s.x, 0.02), ITM_ERR_UNSUPPORTED);
    free(bytes);
    end(&c);
    system_finish(&alone);
}

// A step that fails leaves all ranks as they were, and the reason is that of one process.
static void a_failure_is_reported_as_by_one_process(void** state)
{
    (void)state;
    Cluster c;
    const char* path = ITM_SOURCE_DIR "/examples/crane-double.yaml";
    const char* const overrides[] = {"cosim.coupling=quadratic", "cosim.macro_step=5ms"};
    System alone = system_load(path, overrides, 2);
    start(&c, path, overrides, 2, 2, (ItmPlacement[]){{"crane", 1}, {"hydraulics", 0}}, 2, LIVES);
    ItmStatus status = ITM_OK;
    for (int i = 0; i < 2000 && status == ITM_OK; i++) {
        status = itm_cosim_step(alone.x);
        assert_int_equal(itm_cosim_step(c.s.x), status);
    }
    assert_int_not_equal(status, ITM_OK);
    assert_string_equal(itm_cosim_get_error(c.s.x)->message, itm_cosim_get_error(alone.x)->message);
    expect_same_states(&alone, &c.s);
    end(&c);
    system_finish(&alone);
}

// Rank 0 ends with the state of the last communication point, from which one process continues.
static void a_rank_that_dies_leaves_the_last_communication_point(void** state)
{
    (void)state;
    Cluster c;
    const char* path = ITM_SOURCE_DIR "/examples/crane-double.yaml";
    System alone = system_load(path, NULL, 0);
    start(&c, path, NULL, 0, 2, (ItmPlacement[]){{"crane", 0}, {"hydraulics", 1}}, 2, 85);
    int nstep = 0;
    while (itm_cosim_step(c.s.x) == ITM_OK) {
        system_step(&alone);
        nstep++;
    }
    assert_true(nstep > 5 && nstep < 40);
    assert_true(itm_ranks_get_info(c.s.x).is_lost);
    assert_string_equal(itm_cosim_get_error(c.s.x)->message, "rank 1 has died");
    expect_same_states(&alone, &c.s);
    assert_int_equal(itm_cosim_step(c.s.x), ITM_ERR_IO);
    end(&c);
    assert_int_equal(c.ranks[1].status, ITM_ERR_IO);
    system_finish(&alone);
}

// The outputs of the start are due before the first step: there is nothing to take back.
static void a_rank_that_dies_before_the_first_step_leaves_the_start(void** state)
{
    (void)state;
    enum { JOINING = 3, ECHOES = 2 * 20 };  // messages that rank 1 receives before it is asked for outputs
    Cluster c;
    const char* path = ITM_SOURCE_DIR "/examples/crane-double.yaml";
    System alone = system_load(path, NULL, 0);
    start(&c, path, NULL, 0, 2, (ItmPlacement[]){{"crane", 0}, {"hydraulics", 1}}, 2, JOINING + ECHOES);
    assert_int_equal(itm_cosim_compute_outputs(c.s.x, c.s.y), ITM_ERR_IO);
    assert_int_equal(itm_cosim_abandon(c.s.x, ITM_ERR_IO), ITM_ERR_IO);
    expect_same_states(&alone, &c.s);
    end(&c);
    system_finish(&alone);
}

// Carts, and circuits with a cylinder for each.
#define CART(name)                                                                                                     \
    "  " name ":\n"                                                                                                    \
    "    type: multibody\n"                                                                                            \
    "    bodies: {cart: {mass: 100 kg, inertia: [1 kg m^2, 1 kg m^2, 1 kg m^2], position: [0.5 m, 0, 0]}}\n"           \
    "    joints: {rail: {type: prismatic, bodies: [ground, cart], at: [0, 0, 0], axis: [1, 0, 0]}}\n"                  \
    "    forces: {cyl: {type: actuator, bodies: [ground, cart], at_a: [0, 0, 0], at_b: [0.5 m, 0, 0]}}\n"
#define CIRCUIT(name)                                                                                                  \
    "  " name                                                                                                          \
    ":\n    type: hydraulics\n    step: 0.1 ms\n    fluids: {oil: {density: 850 kg/m^3, bulk_modulus: 1.5 GPa}}\n    nodes:\n"
#define HOSES(n)                                                                                                       \
    "      piston" n ": {type: hose, volume: 30 cm^3, wall_modulus: 150 MPa, pressure: 2 MPa}\n"                       \
    "      rod" n ": {type: hose, volume: 30 cm^3, wall_modulus: 150 MPa, pressure: 2 MPa}\n"
#define CYLINDER(n)                                                                                                    \
    "      cyl" n ": {type: cylinder, ports: [piston" n ", rod" n "], bore: 80 mm, rod: 35 mm, stroke: 0.3 m, "        \
    "start_length: 0.5 m, start_extension: 50 mm, wall_modulus: 31.5 GPa, viscous: 1e4 N s/m}\n"
#define COSIM "cosim:\n  macro_step: 1 ms\n  coupling: rim\n  bonds:\n"

// Two carts on one circuit take their steps at the same time on two ranks. That is worth two messages, or it is not.
static void connected_parts_are_divided_where_that_gains_more_than_messages_take(void** state)
{
    (void)state;
    static const char TEXT[] = "subsystems:\n" CART("one") CART("two") CIRCUIT("hydraulics") HOSES("1")
        HOSES("2") "    elements:\n" CYLINDER("1") CYLINDER("2") COSIM
        "    one.cyl: hydraulics.cyl1\n    two.cyl: hydraulics.cyl2\n";
    static const double TIMES[] = {0.0, 10.0};  // s; carts take microseconds
    for (int i = 0; i < 2; i++) {
        System s = system_parse(TEXT, NULL, 0);
        int ranks[3];
        ItmError error = {0};
        CHECK_OK(itm_ranks_choose(ranks, s.x, 2, TIMES[i], NULL, 0, &error), &error);
        assert_int_equal(ranks[0] != ranks[1], i == 0);
        assert_true(ranks[2] == ranks[0] || ranks[2] == ranks[1]);
        system_finish(&s);
    }
}

// Two carts with circuits of their own need no messages within a step.
static void parts_without_a_connection_are_spread_whatever_messages_take(void** state)
{
    (void)state;
    static const char TEXT[] = "subsystems:\n" CART("one") CART("two") CIRCUIT("left")
        HOSES("1") "    elements:\n" CYLINDER("1") CIRCUIT("right") HOSES("2") "    elements:\n" CYLINDER("2") COSIM
        "    one.cyl: left.cyl1\n    two.cyl: right.cyl2\n";
    System s = system_parse(TEXT, NULL, 0);
    int ranks[4];
    ItmError error = {0};
    CHECK_OK(itm_ranks_choose(ranks, s.x, 2, 10.0, NULL, 0, &error), &error);
    assert_int_not_equal(ranks[0], ranks[1]);
    assert_int_equal(ranks[0], ranks[2]);
    assert_int_equal(ranks[1], ranks[3]);
    system_finish(&s);
}

// A mechanism and its circuit take turns: apart they would only wait for messages.
static void a_mechanism_stays_with_its_only_circuit(void** state)
{
    (void)state;
    System s = system_load(ITM_SOURCE_DIR "/examples/log-crane.yaml", (const char*[]){"cosim.contact_renewals=0"}, 1);
    int ranks[8] = {-1, -1, -1, -1, -1, -1, -1, -1};
    ItmError error = {0};
    CHECK_OK(itm_ranks_choose(ranks, s.x, 2, 0.0, NULL, 0, &error), &error);
    assert_true(ranks[0] >= 0 && ranks[0] < 2);
    assert_int_equal(ranks[0], ranks[1]);
    CHECK_OK(itm_ranks_choose(ranks, s.x, 1, 0.0, NULL, 0, &error), &error);
    assert_int_equal(ranks[0], 0);
    assert_int_equal(itm_ranks_choose(ranks, s.x, 2, 0.0, (ItmPlacement[]){{"crnae", 1}}, 1, &error), ITM_ERR_INPUT);
    assert_string_equal(error.message, "there is no mechanism or subsystem 'crnae'");
    system_finish(&s);
    // a mechanism renews its interface model where its partners take their micro steps
    System renewed = system_load(ITM_SOURCE_DIR "/examples/log-crane.yaml", NULL, 0);
    CHECK_OK(itm_ranks_choose(ranks, renewed.x, 2, 0.0, NULL, 0, &error), &error);
    assert_int_equal(ranks[0], ranks[1]);
    assert_int_equal(
        itm_ranks_choose(ranks, renewed.x, 2, 0.0, (ItmPlacement[]){{"crane", 0}, {"hydraulics", 1}}, 2, &error),
        ITM_ERR_INPUT);
    assert_non_null(strstr(error.message, "contact_renewals: 0"));
    system_finish(&renewed);
    System cut = system_load(ITM_SOURCE_DIR "/examples/crane-cut.yaml", NULL, 0);
    assert_int_equal(itm_ranks_choose(ranks, cut.x, 2, 0.0, (ItmPlacement[]){{"load", 1}, {"crane", 0}}, 2, &error),
                     ITM_ERR_INPUT);
    assert_non_null(strstr(error.message, "must be on the same rank"));
    system_finish(&cut);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_mechanism_and_its_circuit_on_two_ranks_have_the_bits_of_one_process),
        cmocka_unit_test(contacts_in_an_interface_model_travel_with_it),
        cmocka_unit_test(controls_sample_a_mechanism_on_another_rank),
        cmocka_unit_test(joined_mechanisms_stay_together),
        cmocka_unit_test(a_system_that_is_reset_or_restored_goes_on_with_the_same_bits),
        cmocka_unit_test(a_failure_is_reported_as_by_one_process),
        cmocka_unit_test(a_rank_that_dies_leaves_the_last_communication_point),
        cmocka_unit_test(a_rank_that_dies_before_the_first_step_leaves_the_start),
        cmocka_unit_test(connected_parts_are_divided_where_that_gains_more_than_messages_take),
        cmocka_unit_test(parts_without_a_connection_are_spread_whatever_messages_take),
        cmocka_unit_test(a_mechanism_stays_with_its_only_circuit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
