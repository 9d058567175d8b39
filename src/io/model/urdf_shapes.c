// Collision shapes of a robot description, with the files of its meshes.
#include "io/model/urdf_import.h"

#include "io/geometry/mesh.h"
#include "math/vec.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

// ---------------------------------------------------------------------------- files of meshes

static bool is_file(const char* path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISREG(about.st_mode);
}

// directory/name, or NULL where that is no file or does not fit.
static const char* try_path(char* path, size_t size, const char* directory, size_t length, const char* name)
{
    int n = snprintf(path, size, "%.*s%s", (int)length, directory, name);
    return n > 0 && (size_t)n < size && is_file(path) ? path : NULL;
}

// Directory of a package according to the model file, with a slash at its end; NULL if it does not.
static const char* find_package(ItmUrdfImport* m, const char* name, size_t length)
{
    for (const ItmItem* item = m->packages != NULL ? m->packages->first : NULL; item != NULL; item = item->next) {
        if (item->key != NULL && item->key->length == length && memcmp(item->key->text, name, length) == 0) {
            const char* directory = itm_reader_get_text(m->r, item->value, "a directory");
            return directory != NULL ? itm_read_urdf_keep_path(m, directory) : NULL;
        }
    }
    return NULL;
}

// The file that a mesh means: "package://name/rest" in the directory of the model file's entry, or in a directory `name` beside the URDF file or
// above it; "file://path"; anything else beside the URDF file.
static const char* find_mesh(ItmUrdfImport* m, const char* uri, char* path, size_t size)
{
    const char* slash = strrchr(m->path, '/');
    size_t directory = slash != NULL ? (size_t)(slash - m->path) + 1 : 0;
    if (strncmp(uri, "file://", 7) == 0) {
        return try_path(path, size, "", 0, uri + 7);
    }
    if (strncmp(uri, "package://", 10) != 0) {
        return try_path(path, size, m->path, uri[0] == '/' ? 0 : directory, uri);
    }
    const char* rest = uri + 10;
    size_t length = strcspn(rest, "/");
    const char* package = find_package(m, rest, length);
    if (package != NULL) {
        char base[1024];
        int n = snprintf(base, sizeof base, "%s", package);
        return n > 0 && (size_t)n < sizeof base ? try_path(path, size, base, (size_t)n, rest + length) : NULL;
    }
    const char* found = NULL;
    char up[1024] = "";
    for (int level = 0; level < 8 && found == NULL; level++) {
        char name[1024];
        snprintf(name, sizeof name, "%.200s%.800s", up, rest);
        found = try_path(path, size, m->path, directory, name);
        if (found == NULL && rest[length] == '/') {
            snprintf(name, sizeof name, "%.200s%.800s", up, rest + length + 1);
            found = try_path(path, size, m->path, directory, name);
        }
        strcat(up, "../");
    }
    return found;
}

// ---------------------------------------------------------------------------- shapes

// The convex hull of a mesh. A mesh that cannot be had is left out, with a note.
static void add_mesh(ItmUrdfImport* m, const ItmUrdfShape* shape, ItmColliderDef* def)
{
    char path[2048];
    ItmMesh mesh = {0};
    ItmError error = {0};
    const char* found = find_mesh(m, shape->file, path, sizeof path);
    if (found == NULL) {
        itm_read_urdf_note_at(m, shape->line, "mesh '%.200s' is left out: it is not found", shape->file);
        return;
    }
    itm_reader_keep_reference(m->r, shape->file, found);
    if (itm_mesh_read(&mesh, found, 1.0, &error) != ITM_OK) {
        itm_read_urdf_note_at(m, shape->line, "mesh '%.200s' is left out: %.200s", shape->file, error.message);
        itm_mesh_free(&mesh);
        return;
    }
    for (int i = 0; i < mesh.nvertex; i++) {
        ItmVec3* v = &mesh.vertices[i];
        *v = itm_vec(shape->size[0] * v->x, shape->size[1] * v->y, shape->size[2] * v->z);
    }
    def->kind = ITM_COLLIDER_HULL;
    def->vertices = mesh.vertices;
    def->nvertex = mesh.nvertex;
    if (itm_model_builder_add_collider(m->r->builder, def, NULL, &error) != ITM_OK) {
        itm_read_urdf_note_at(m, shape->line, "mesh '%.200s' is left out: %.200s", shape->file, error.message);
    }
    itm_mesh_free(&mesh);
}

static void add_shape(ItmUrdfImport* m, const ItmUrdfShape* shape, const char* name)
{
    static const ItmColliderKind KINDS[] = {
        [ITM_URDF_BOX] = ITM_COLLIDER_BOX,
        [ITM_URDF_SPHERE] = ITM_COLLIDER_SPHERE,
        [ITM_URDF_CYLINDER] = ITM_COLLIDER_CYLINDER,
    };
    const ItmUrdfPlace* place = &m->places[shape->link];
    ItmColliderDef def = itm_default_collider_def();
    def.name = name;
    def.body = place->body;
    def.pose = itm_pose_mul(place->in_body, shape->pose);
    def.material = m->material;
    if (shape->kind == ITM_URDF_MESH) {
        add_mesh(m, shape, &def);
        return;
    }
    def.kind = KINDS[shape->kind];
    memcpy(def.size, shape->size, sizeof def.size);
    itm_read_urdf_status(m, itm_model_builder_add_collider(m->r->builder, &def, NULL, m->r->error), shape->line);
}

void itm_urdf_add_shapes(ItmUrdfImport* m)
{
    int last = ITM_NONE, number = 0;
    for (int i = 0; i < m->robot.nshape && m->r->status == ITM_OK; i++) {
        const ItmUrdfShape* shape = &m->robot.shapes[i];
        number = shape->link == last ? number + 1 : 1;
        last = shape->link;
        char ending[24];
        snprintf(ending, sizeof ending, number > 1 ? "-shape%d" : "-shape", number);
        const char* name = itm_read_urdf_make_name(m, m->robot.links[shape->link].name, ending);
        if (name != NULL && !m->places[shape->link].is_lost && m->contacts != ITM_URDF_CONTACTS_NONE) {
            add_shape(m, shape, name);
        }
    }
}

// Whether the shapes of two links may collide.
static bool may_meet(const ItmUrdfImport* m, int a, int b)
{
    const ItmUrdf* robot = &m->robot;
    int group_a = m->places[a].group, group_b = m->places[b].group;
    if (m->contacts != ITM_URDF_CONTACTS_ALL || group_a == group_b) {
        return false;
    }
    bool is_above = group_b > 0 && m->places[robot->joints[group_b - 1].parent].group == group_a;
    bool is_below = group_a > 0 && m->places[robot->joints[group_a - 1].parent].group == group_b;
    return !is_above && !is_below;
}

void itm_urdf_exclude_contacts(ItmUrdfImport* m)
{
    for (int i = 0; i < m->robot.nlink && m->contacts != ITM_URDF_CONTACTS_NONE; i++) {
        for (int k = 0; k < i && m->r->status == ITM_OK; k++) {
            const ItmUrdfPlace *a = &m->places[i], *b = &m->places[k];
            if (!a->is_lost && !b->is_lost && a->body != b->body && !may_meet(m, i, k)) {
                itm_read_urdf_status(m, itm_model_builder_exclude_contact(m->r->builder, a->body, b->body, m->r->error),
                                     1);
            }
        }
    }
}
