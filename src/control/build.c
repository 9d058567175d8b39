// From definitions to the tables of a control: names become indices, blocks get an order in which each finds its inputs
// computed, and loops without delay are refused.
#include "control/control.h"

#include "base/error.h"
#include "base/list.h"
#include "base/nearest.h"
#include "base/utf8.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_BLOCKS 10000  // and inputs: the table of feed-through has a bit for each pair
#define MAX_STATES 20000000

// Scratch of a build.
typedef struct Build {
    const ItmControlBuilder* b;
    ItmControl* c;
    ItmError* error;
    ItmOp* ops;            // all expressions, one after another          (nop)
    int* op_adr;           // of an expression                            (nblock x ITM_SLOT_COUNT)
    int* signal_index;     // builder to control, or ITM_NONE             (signals of the builder)
    ItmNames input_names;  // name to index
    ITM_CONTROL_LIST(const char*) inputs;
    int* order;            //                                             (nblock)
    int* path;             // blocks that the search is inside of         (nblock)
    int* next;             // operation at which each of them goes on     (nblock)
    unsigned char* color;  // 0: not seen, 1: on the path, 2: in order    (nblock)
} Build;

static ItmStatus out_of_memory(ItmError* error)
{
    return itm_error_set(error, ITM_ERR_MEMORY, "itm_control_build", NULL, "out of memory for a control");
}

// ---------------------------------------------------------------------------- names

static ItmStatus refuse(Build* k, int block, int slot, const ItmOp* op, const char* message)
{
    char field[128];
    const char* name = k->b->blocks.items[block].def.name;
    snprintf(field, sizeof field, "%s.%s", name, itm_control_slot_name((ItmControlSlot)slot));
    ItmStatus status =
        itm_error_set(k->error, ITM_ERR_INPUT, "itm_control_build", field, "block '%s': %s", name, message);
    if (k->error != NULL) {
        k->error->column = op->offset + 1;
    }
    return status;
}

static void offer_names(ItmNearest* nearest, const ItmNames* names)
{
    for (size_t i = 0; i < names->nslot; i++) {
        if (names->slots[i].name != NULL) {
            itm_nearest_offer(nearest, names->slots[i].name);
        }
    }
}

static ItmStatus refuse_unknown(Build* k, int block, int slot, const ItmOp* op, const char* name, size_t length)
{
    char message[512], hint[160];
    ItmNearest nearest = itm_nearest_start(name, length);
    offer_names(&nearest, &k->b->block_names);
    offer_names(&nearest, &k->b->signal_names);
    offer_names(&nearest, &k->b->constant_names);
    snprintf(
        message, sizeof message,
        "there is no block, signal or constant '%.*s'%s; outputs of other subsystems have a dot, as in arm.cyl1.rate",
        (int)itm_utf8_cut(name, length, 64), name, itm_nearest_format(&nearest, hint, sizeof hint));
    return refuse(k, block, slot, op, message);
}

// An output of another subsystem: known already, or one more.
static ItmStatus find_input(Build* k, ItmOp* op, const char* name, size_t length)
{
    op->code = ITM_OP_INPUT;
    op->index = itm_names_find(&k->input_names, name, length);
    if (op->index != ITM_NONE) {
        return ITM_OK;
    }
    op->index = k->inputs.count;
    const char* copy = itm_names_add(&k->input_names, name, length, op->index);
    return copy != NULL && ITM_LIST_APPEND(k->inputs, copy) ? ITM_OK : out_of_memory(k->error);
}

// The part of a name behind "control." where that is the name of this subsystem; otherwise NULL.
static const char* skip_own_name(const Build* k, const char* name, size_t length)
{
    size_t own = k->b->name != NULL ? strlen(k->b->name) : 0;
    bool is_own = own > 0 && length > own + 1 && name[own] == '.' && memcmp(name, k->b->name, own) == 0;
    return is_own ? name + own + 1 : NULL;
}

static int number_signal(Build* k, int signal)
{
    if (k->signal_index[signal] == ITM_NONE) {
        k->signal_index[signal] = k->c->nsignal++;
    }
    return k->signal_index[signal];
}

// A name without a dot: exactly one of block, signal, constant.
static ItmStatus find_local(Build* k, int block, int slot, ItmOp* op, const char* name, size_t length)
{
    bool is_rate = op->code == ITM_OP_RATE;
    int signal = itm_names_find(&k->b->signal_names, name, length);
    int other = is_rate ? ITM_NONE : itm_names_find(&k->b->block_names, name, length);
    int constant = is_rate ? ITM_NONE : itm_names_find(&k->b->constant_names, name, length);
    char message[256];
    if ((other != ITM_NONE) + (signal != ITM_NONE) + (constant != ITM_NONE) > 1) {
        snprintf(message, sizeof message, "'%.*s' is the name of more than one block, signal or constant: rename one",
                 (int)itm_utf8_cut(name, length, 64), name);
        return refuse(k, block, slot, op, message);
    }
    if (other != ITM_NONE) {
        op->code = ITM_OP_BLOCK;
        op->index = other;
    } else if (signal != ITM_NONE) {
        op->code = is_rate ? ITM_OP_SIGNAL_RATE : ITM_OP_SIGNAL;
        op->index = number_signal(k, signal);
    } else if (constant != ITM_NONE) {
        op->code = ITM_OP_CONSTANT;
        op->value = k->b->constants.items[constant];
    } else if (is_rate) {
        snprintf(message, sizeof message,
                 "there is no signal '%.*s'; of other things than signals a derivative block gives the rate",
                 (int)itm_utf8_cut(name, length, 64), name);
        return refuse(k, block, slot, op, message);
    } else {
        return refuse_unknown(k, block, slot, op, name, length);
    }
    return ITM_OK;
}

static ItmStatus resolve(Build* k, int block, int slot, ItmOp* op, const char* text)
{
    const char* name = text + op->offset;
    size_t length = (size_t)op->length;
    if (op->code == ITM_OP_RATE || memchr(name, '.', length) == NULL) {
        return find_local(k, block, slot, op, name, length);
    }
    const char* own = skip_own_name(k, name, length);
    if (own == NULL) {
        return find_input(k, op, name, length);
    }
    length -= (size_t)(own - name);
    op->code = ITM_OP_BLOCK;
    op->index = itm_names_find(&k->b->block_names, own, length);
    return op->index != ITM_NONE ? ITM_OK : refuse_unknown(k, block, slot, op, own, length);
}

// `time` is the time of the sample; nothing else of that name may be meant.
static ItmStatus check_time(Build* k, int block, int slot, const ItmOp* op)
{
    bool is_clear = itm_names_find(&k->b->signal_names, "time", 4) == ITM_NONE &&
                    itm_names_find(&k->b->constant_names, "time", 4) == ITM_NONE;
    return is_clear
               ? ITM_OK
               : refuse(k, block, slot, op, "'time' is the time of the sample; rename the signal or constant 'time'");
}

static ItmStatus resolve_all(Build* k)
{
    ItmControl* c = k->c;
    for (int i = 0; i < c->nblock; i++) {
        for (int slot = 0; slot < ITM_SLOT_COUNT; slot++) {
            const ItmProgram* program = &k->b->blocks.items[i].programs[slot];
            k->op_adr[i * ITM_SLOT_COUNT + slot] = c->nop;
            c->nstack = program->nstack > c->nstack ? program->nstack : c->nstack;
            for (int j = 0; j < program->nop; j++) {
                ItmOp* op = &k->ops[c->nop++];
                *op = program->ops[j];
                bool is_open = op->code == ITM_OP_NAME || op->code == ITM_OP_RATE;
                ItmStatus status = is_open                   ? resolve(k, i, slot, op, program->text)
                                   : op->code == ITM_OP_TIME ? check_time(k, i, slot, op)
                                                             : ITM_OK;
                if (status != ITM_OK) {
                    return status;
                }
            }
        }
    }
    c->ninput = k->inputs.count;
    return c->ninput <= MAX_BLOCKS ? ITM_OK
                                   : itm_error_set(k->error, ITM_ERR_CAPACITY, "itm_control_build", NULL,
                                                   "a control has at most %d inputs, got %d", MAX_BLOCKS, c->ninput);
}

// ---------------------------------------------------------------------------- order

static bool is_feedthrough(const Build* k, int block)
{
    return itm_control_kind_is_feedthrough(&k->b->blocks.items[block].def);
}

// First operation behind the expressions of a block.
static int find_end(const Build* k, int block)
{
    return block + 1 < k->c->nblock ? k->op_adr[(block + 1) * ITM_SLOT_COUNT] : k->c->nop;
}

// a -> b -> ... -> a, the blocks of the path from its first occurrence on.
static ItmStatus refuse_loop(Build* k, int npath, int again)
{
    char names[384] = "";
    int first = 0;
    while (k->path[first] != again) {
        first++;
    }
    for (int i = first; i < npath; i++) {
        size_t used = strlen(names);
        if (used > sizeof names - 140) {
            snprintf(names + used, sizeof names - used, "... -> ");
            break;
        }
        snprintf(names + used, sizeof names - used, "%s -> ", k->b->blocks.items[k->path[i]].def.name);
    }
    const char* name = k->b->blocks.items[again].def.name;
    char field[128];
    snprintf(field, sizeof field, "%s.input", name);
    return itm_error_set(
        k->error, ITM_ERR_INPUT, "itm_control_build", field,
        "algebraic loop: %s%s (each needs the value of the next at the same sample); put a delay, a lag or "
        "an integrator with a start value in between",
        names, name);
}

// Depth first, without recursion: a block comes into order behind all whose values it needs.
static ItmStatus visit(Build* k, int root, int* norder)
{
    int npath = 0;
    k->path[npath] = root;
    k->next[npath++] = k->op_adr[root * ITM_SLOT_COUNT];
    k->color[root] = 1;
    while (npath > 0) {
        int block = k->path[npath - 1];
        int* at = &k->next[npath - 1];
        if (*at == find_end(k, block)) {
            k->color[block] = 2;
            k->order[(*norder)++] = block;
            npath--;
            continue;
        }
        const ItmOp* op = &k->ops[(*at)++];
        if (op->code != ITM_OP_BLOCK || k->color[op->index] == 2) {
            continue;
        }
        if (k->color[op->index] == 1) {
            return refuse_loop(k, npath, op->index);
        }
        k->path[npath] = op->index;
        k->next[npath++] = k->op_adr[op->index * ITM_SLOT_COUNT];
        k->color[op->index] = 1;
    }
    return ITM_OK;
}

static ItmStatus sort(Build* k)
{
    int norder = 0;
    for (int i = 0; i < k->c->nblock; i++) {
        if (!is_feedthrough(k, i)) {
            k->color[i] = 2;
            k->order[norder++] = i;
        }
    }
    ItmStatus status = ITM_OK;
    for (int i = 0; i < k->c->nblock && status == ITM_OK; i++) {
        status = k->color[i] == 0 ? visit(k, i, &norder) : ITM_OK;
    }
    return status;
}

// ---------------------------------------------------------------------------- tables

static const char* take_string(ItmControl* c, const char* text)
{
    size_t length = strlen(text) + 1;
    char* copy = ITM_TAKE(&c->arena, char, length);
    return copy != NULL ? memcpy(copy, text, length) : NULL;
}

// Called twice: to measure (all pointers stay NULL), then to fill.
static void lay_out(Build* k)
{
    ItmControl* c = k->c;
    ItmArena* arena = &c->arena;
    const ItmControlBuilder* b = k->b;
    c->blocks = ITM_TAKE(arena, ItmControlBlock, c->nblock);
    c->ops = ITM_TAKE(arena, ItmOp, c->nop);
    c->signals = ITM_TAKE(arena, ItmSignal, c->nsignal);
    c->input_name = ITM_TAKE(arena, const char*, c->ninput);
    c->order = ITM_TAKE(arena, int, c->nblock);
    c->feedthrough = ITM_TAKE(arena, unsigned char, (size_t)c->nblock*(size_t)c->nfeed);
    for (int i = 0; i < c->ninput; i++) {
        const char* name = take_string(c, k->inputs.items[i]);
        if (c->input_name != NULL) {
            c->input_name[i] = name;
        }
    }
    for (int i = 0; i < b->signals.count; i++) {
        if (k->signal_index[i] != ITM_NONE) {
            double* memory = ITM_TAKE(arena, double, 4 * (size_t)b->signals.items[i].npoint);
            if (memory != NULL) {
                itm_signal_compile(&c->signals[k->signal_index[i]], &b->signals.items[i], memory);
                c->signals[k->signal_index[i]].def.name = NULL;
            }
        }
    }
    for (int i = 0; i < c->nblock; i++) {
        const ItmControlEntry* entry = &b->blocks.items[i];
        const char* name = take_string(c, entry->def.name);
        const char* unit = take_string(c, entry->def.unit);
        double* memory = ITM_TAKE(arena, double, 4 * (size_t)entry->table.npoint);
        if (c->blocks != NULL) {
            c->blocks[i].def = entry->def;
            c->blocks[i].def.name = name;
            c->blocks[i].def.unit = unit;
            itm_signal_compile(&c->blocks[i].table, &entry->table, memory);
        }
    }
}

// Addresses of expressions and states.
static void place_blocks(Build* k)
{
    ItmControl* c = k->c;
    int ring = c->nx_scalar, x = 0;
    for (int i = 0; i < c->nblock; i++) {
        ItmControlBlock* block = &c->blocks[i];
        block->is_feedthrough = is_feedthrough(k, i);
        for (int slot = 0; slot < ITM_SLOT_COUNT; slot++) {
            block->op_adr[slot] = k->op_adr[i * ITM_SLOT_COUNT + slot];
            block->nop[slot] = k->b->blocks.items[i].programs[slot].nop;
        }
        block->x_adr = x;
        block->ring_adr = ring;
        x += itm_control_kind_count_states(&block->def);
        ring += itm_control_kind_count_samples(&block->def);
    }
}

static ItmStatus count_states(Build* k)
{
    long nx = 0, nsample = 0;
    for (int i = 0; i < k->c->nblock; i++) {
        nx += itm_control_kind_count_states(&k->b->blocks.items[i].def);
        nsample += itm_control_kind_count_samples(&k->b->blocks.items[i].def);
    }
    if (nx + nsample > MAX_STATES) {
        return itm_error_set(k->error, ITM_ERR_CAPACITY, "itm_control_build", NULL,
                             "the delays keep %ld samples, more than %d", nsample, MAX_STATES);
    }
    k->c->nx_scalar = (int)nx;
    k->c->nx = (int)(nx + nsample);
    return ITM_OK;
}

// In order of evaluation: what an expression names, and what the blocks it names depend on.
static void find_feedthrough(ItmControl* c)
{
    for (int n = 0; n < c->nblock; n++) {
        const ItmControlBlock* block = &c->blocks[c->order[n]];
        unsigned char* row = c->feedthrough + (size_t)c->order[n] * (size_t)c->nfeed;
        int first = block->op_adr[0], last = block->op_adr[ITM_SLOT_COUNT - 1] + block->nop[ITM_SLOT_COUNT - 1];
        for (int i = first; i < last && block->is_feedthrough; i++) {
            const ItmOp* op = &c->ops[i];
            if (op->code == ITM_OP_INPUT) {
                row[op->index / CHAR_BIT] |= (unsigned char)(1u << (op->index % CHAR_BIT));
            } else if (op->code == ITM_OP_BLOCK) {
                const unsigned char* other = c->feedthrough + (size_t)op->index * (size_t)c->nfeed;
                for (int j = 0; j < c->nfeed; j++) {
                    row[j] |= other[j];
                }
            }
        }
    }
}

static bool take_scratch(Build* k)
{
    size_t nblock = (size_t)k->c->nblock, nop = 0;
    for (size_t i = 0; i < nblock; i++) {
        for (int slot = 0; slot < ITM_SLOT_COUNT; slot++) {
            nop += (size_t)k->b->blocks.items[i].programs[slot].nop;
        }
    }
    k->ops = calloc(nop + 1, sizeof *k->ops);
    k->op_adr = calloc(nblock * ITM_SLOT_COUNT + 1, sizeof *k->op_adr);
    k->signal_index = malloc(((size_t)k->b->signals.count + 1) * sizeof *k->signal_index);
    k->order = calloc(nblock + 1, sizeof *k->order);
    k->path = calloc(nblock + 1, sizeof *k->path);
    k->next = calloc(nblock + 1, sizeof *k->next);
    k->color = calloc(nblock + 1, sizeof *k->color);
    for (int i = 0; k->signal_index != NULL && i < k->b->signals.count; i++) {
        k->signal_index[i] = ITM_NONE;
    }
    return k->ops != NULL && k->op_adr != NULL && k->signal_index != NULL && k->order != NULL && k->path != NULL &&
           k->next != NULL && k->color != NULL;
}

static void free_scratch(Build* k)
{
    free(k->ops);
    free(k->op_adr);
    free(k->signal_index);
    free(k->order);
    free(k->path);
    free(k->next);
    free(k->color);
    free(k->inputs.items);
    itm_names_free(&k->input_names);
}

static ItmStatus compile(Build* k)
{
    ItmControl* c = k->c;
    c->nblock = k->b->blocks.count;
    if (!take_scratch(k)) {
        return out_of_memory(k->error);
    }
    ItmStatus status = count_states(k);
    status = status == ITM_OK ? resolve_all(k) : status;
    status = status == ITM_OK ? sort(k) : status;
    if (status != ITM_OK) {
        return status;
    }
    c->nfeed = (c->ninput + CHAR_BIT - 1) / CHAR_BIT;
    lay_out(k);
    if (itm_arena_allocate(&c->arena) != 0) {
        return out_of_memory(k->error);
    }
    lay_out(k);
    memcpy(c->ops, k->ops, (size_t)c->nop * sizeof *c->ops);
    memcpy(c->order, k->order, (size_t)c->nblock * sizeof *c->order);
    place_blocks(k);
    find_feedthrough(c);
    c->data_bytes = itm_controller_measure(c);
    return ITM_OK;
}

ItmStatus itm_control_build(ItmControl** control, const ItmControlBuilder* b, ItmError* error)
{
    if (control == NULL || b == NULL) {
        return itm_error_set(error, ITM_ERR_ARGUMENT, __func__, NULL, "control or builder is NULL");
    }
    *control = NULL;
    if (b->blocks.count == 0) {
        return itm_error_set(error, ITM_ERR_INPUT, __func__, "blocks", "a control needs at least one block");
    }
    if (b->blocks.count > MAX_BLOCKS) {
        return itm_error_set(error, ITM_ERR_CAPACITY, __func__, NULL, "a control has at most %d blocks, got %d",
                             MAX_BLOCKS, b->blocks.count);
    }
    ItmControl* c = calloc(1, sizeof *c);
    if (c == NULL) {
        return out_of_memory(error);
    }
    Build k = {.b = b, .c = c, .error = error};
    ItmStatus status = compile(&k);
    free_scratch(&k);
    if (status != ITM_OK) {
        itm_control_destroy(c);
        return status;
    }
    *control = c;
    return ITM_OK;
}
