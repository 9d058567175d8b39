// What a mechanism looks like, as members of the JSON lists of a scene. Points and poses are in the user's body frames,
// body -1 is the world.
#include "io/results/recorder.h"

#include "contact/contact.h"

#include <stdio.h>
#include <string.h>

#define SCENE_DIGITS 7       // of coordinates in pictures
#define SHAPE_DIGITS 5       // of shapes of modes
#define MOST_VERTICES 20000  // of a hull, mesh or height field; a larger one is shown as the box around it

// ---------------------------------------------------------------------------- pieces

void itm_scene_open_member(ItmText* text, const char* prefix, const char* name)
{
    char whole[256];
    snprintf(whole, sizeof whole, "%s%s%s", prefix, prefix[0] != '\0' ? "." : "", name);
    itm_text_add(text, "    {\"name\": ");
    itm_text_add_json(text, whole);
}

void itm_scene_close_member(ItmText* text)
{
    itm_text_add(text, "},\n");
}

static void add_numbers(ItmText* text, const char* key, const double* x, int n)
{
    itm_text_format(text, ", \"%s\": [", key);
    for (int i = 0; i < n; i++) {
        itm_text_add(text, i > 0 ? "," : "");
        itm_text_add_number(text, x[i], SCENE_DIGITS);
    }
    itm_text_add(text, "]");
}

void itm_scene_add_vec(ItmText* text, const char* key, ItmVec3 v)
{
    add_numbers(text, key, (double[]){v.x, v.y, v.z}, 3);
}

static void add_pose(ItmText* text, const char* key, ItmVec3 p, const ItmMat3* R)
{
    ItmQuat q = itm_vec_quat_from_mat(R);
    add_numbers(text, key, (double[]){p.x, p.y, p.z, q.w, q.x, q.y, q.z}, 7);
}

int itm_scene_find_body(const ItmModel* m, int body, int first)
{
    for (int id = 0; body != ITM_NONE && id < m->nuser; id++) {
        if (m->body_index[id] == m->bodies[body].owner) {
            return first + id;
        }
    }
    return ITM_NONE;
}

static void add_ends(ItmText* text, const ItmModel* m, int first, int body_a, int body_b)
{
    itm_text_format(text, ", \"bodies\": [%d, %d]", itm_scene_find_body(m, body_a, first),
                    itm_scene_find_body(m, body_b, first));
}

// ---------------------------------------------------------------------------- shapes

static void add_vertices(ItmText* text, const char* key, const ItmVec3* vertices, int n)
{
    itm_text_format(text, ", \"%s\": [", key);
    for (int i = 0; i < 3 * n; i++) {
        itm_text_add(text, i > 0 ? "," : "");
        itm_text_add_number(text, itm_vec_get(vertices[i / 3], i % 3), SCENE_DIGITS);
    }
    itm_text_add(text, "]");
}

// Fans of the faces of a hull.
static void add_hull(ItmText* text, const ItmHull* hull)
{
    add_vertices(text, "vertices", hull->vertices, hull->nvertex);
    itm_text_add(text, ", \"triangles\": [");
    const char* comma = "";
    for (int f = 0; f < hull->nface; f++) {
        const int* corner = hull->face_corners + hull->face_adr[f];
        int n = hull->face_adr[f + 1] - hull->face_adr[f];
        for (int k = 2; k < n; k++) {
            itm_text_format(text, "%s%d,%d,%d", comma, corner[0], corner[k - 1], corner[k]);
            comma = ",";
        }
    }
    itm_text_add(text, "]");
}

static void add_mesh(ItmText* text, const ItmMeshGeom* mesh)
{
    add_vertices(text, "vertices", mesh->vertices, mesh->nvertex);
    itm_text_add(text, ", \"triangles\": [");
    for (int i = 0; i < 3 * mesh->ntriangle; i++) {
        itm_text_format(text, "%s%d", i > 0 ? "," : "", mesh->triangles[i]);
    }
    itm_text_add(text, "]");
}

static void add_field(ItmText* text, const ItmFieldGeom* field)
{
    itm_text_format(text, ", \"grid\": [%d, %d]", field->nx, field->ny);
    add_numbers(text, "spacing", (double[]){field->dx, field->dy}, 2);
    add_numbers(text, "heights", field->heights, field->nx * field->ny);
}

static int count_vertices(const ItmGeom* g)
{
    return g->kind == ITM_GEOM_HULL    ? g->hull.nvertex
           : g->kind == ITM_GEOM_MESH  ? (g->mesh.nvertex > g->mesh.ntriangle ? g->mesh.nvertex : g->mesh.ntriangle)
           : g->kind == ITM_GEOM_FIELD ? g->field.nx * g->field.ny
                                       : 0;
}

// The kind and what belongs to it.
static void add_geom(ItmText* text, const ItmGeom* g)
{
    if (count_vertices(g) > MOST_VERTICES) {
        itm_text_add(text, ", \"kind\": \"bounds\"");
        itm_scene_add_vec(text, "lower", g->bounds.lo);
        itm_scene_add_vec(text, "upper", g->bounds.hi);
        return;
    }
    itm_text_format(text, ", \"kind\": \"%s\"", itm_geom_kind_name(g->kind));
    switch (g->kind) {
    case ITM_GEOM_SPHERE:
        add_numbers(text, "size", &g->radius, 1);
        break;
    case ITM_GEOM_CAPSULE:
    case ITM_GEOM_CYLINDER:
        add_numbers(text, "size", (double[]){g->radius, 2.0 * g->half_length}, 2);
        break;
    case ITM_GEOM_BOX:
        itm_scene_add_vec(text, "size", itm_vec_scale(2.0, g->half));
        break;
    case ITM_GEOM_HULL:
        add_hull(text, &g->hull);
        break;
    case ITM_GEOM_MESH:
        add_mesh(text, &g->mesh);
        break;
    case ITM_GEOM_FIELD:
        add_field(text, &g->field);
        break;
    default:
        break;
    }
}

static void add_shapes(ItmText* text, const ItmModel* m, const char* prefix, int first, const ItmCollider* shapes,
                       int n, bool collides)
{
    for (int i = 0; i < n; i++) {
        const ItmCollider* c = &shapes[i];
        itm_scene_open_member(text, prefix, c->name);
        itm_text_format(text, ", \"body\": %d, \"collides\": %s", itm_scene_find_body(m, c->body, first),
                        collides ? "true" : "false");
        add_pose(text, "pose", itm_model_find_user_point(m, c->body, c->frame.p), &c->frame.R);
        add_geom(text, c->geom);
        if (c->color != ITM_NONE) {
            itm_text_format(text, ", \"color\": \"#%06x\"", (unsigned)c->color);
        }
        itm_scene_close_member(text);
    }
}

// ---------------------------------------------------------------------------- bodies, joints, lines

static void add_bodies(ItmText* text, const ItmModel* m, const char* prefix)
{
    for (int id = 0; id < m->nuser; id++) {
        const ItmBody* body = &m->bodies[m->body_index[id]];
        itm_scene_open_member(text, prefix, body->name);
        itm_text_add(text, ", \"mass\": ");
        itm_text_add_number(text, body->mass, SCENE_DIGITS);
        itm_scene_add_vec(text, "com", body->com);
        itm_scene_close_member(text);
    }
}

static void add_joints(ItmText* text, const ItmModel* m, const char* prefix, int first)
{
    for (int i = 0; i < m->njoint; i++) {
        const ItmJoint* joint = &m->joints[i];
        itm_scene_open_member(text, prefix, joint->name);
        itm_text_format(text, ", \"type\": \"%s\"", itm_model_joint_type_name(joint->type));
        add_ends(text, m, first, joint->body_a, joint->body_b);
        add_pose(text, "frame_a", itm_model_find_user_point(m, joint->body_a, joint->a.p), &joint->a.R);
        add_pose(text, "frame_b", itm_model_find_user_point(m, joint->body_b, joint->b.p), &joint->b.R);
        itm_scene_close_member(text);
    }
}

static void add_line(ItmText* text, const ItmModel* m, const char* prefix, int first, const char* name,
                     const char* kind, const ItmRopePlace ends[2])
{
    itm_scene_open_member(text, prefix, name);
    itm_text_format(text, ", \"kind\": \"%s\"", kind);
    add_ends(text, m, first, ends[0].body, ends[1].body);
    itm_scene_add_vec(text, "point_a", itm_model_find_user_point(m, ends[0].body, ends[0].point));
    itm_scene_add_vec(text, "point_b", itm_model_find_user_point(m, ends[1].body, ends[1].point));
    itm_scene_close_member(text);
}

// A line, or every stretch of a rope from sheave to sheave.
static void add_path(ItmText* text, const ItmModel* m, const char* prefix, int first, const char* name,
                     const char* kind, const ItmMeasure* line)
{
    if (line->places == NULL) {
        const ItmRopePlace ends[2] = {{.body = line->body_a, .point = line->point_a},
                                      {.body = line->body_b, .point = line->point_b}};
        add_line(text, m, prefix, first, name, kind, ends);
    }
    for (int i = 0; i + 1 < line->nplace; i++) {
        add_line(text, m, prefix, first, name, "rope", &line->places[i]);
    }
}

// Springs and actuators between two points, and ropes.
static void add_lines(ItmText* text, const ItmModel* m, const char* prefix, int first)
{
    for (int i = 0; i < m->nscalar_force; i++) {
        const ItmScalarForce* force = &m->scalar_forces[i];
        if (m->measures[force->measure].joint == ITM_NONE) {
            add_path(text, m, prefix, first, force->name, force->is_tension ? "spring" : "actuator",
                     &m->measures[force->measure]);
        }
    }
    for (int i = 0; i < m->nlimit; i++) {
        if (m->limits[i].is_rope) {
            add_path(text, m, prefix, first, m->limits[i].name, "rope", &m->measures[m->limits[i].measure]);
        }
    }
}

// ---------------------------------------------------------------------------- flexible bodies

// Shapes of mode k over the points: displacements, and for beams rotations.
static void add_mode(ItmText* text, const ItmElasticPicture* picture, int k, int n)
{
    const char* comma = "";
    itm_text_add(text, k > 0 ? ",[" : "[");
    for (int i = 0; i < picture->npoint; i++) {
        const ItmSpatial* shape = &picture->shapes[i * n + k];
        for (int axis = 0; axis < (picture->is_beam ? 6 : 3); axis++, comma = ",") {
            itm_text_add(text, comma);
            itm_text_add_number(text, itm_vec_get(axis < 3 ? shape->lin : shape->ang, axis % 3), SHAPE_DIGITS);
        }
    }
    itm_text_add(text, "]");
}

static void add_flexible(ItmText* text, const ItmModel* m, const char* prefix, const ItmFlexible* f, int first_body,
                         int first_mode)
{
    const ItmElasticPicture* picture = &f->picture;
    itm_scene_open_member(text, prefix, m->bodies[f->frame].name);
    itm_text_format(text, ", \"body\": %d, \"kind\": \"%s\", \"first\": %d, \"stiffening\": %s",
                    itm_scene_find_body(m, f->frame, first_body), picture->is_beam ? "beam" : "nodes",
                    first_mode + f->mode_adr, f->is_stiffening ? "true" : "false");
    if (picture->is_beam) {
        add_numbers(text, "section", (double[]){picture->width_y, picture->width_z}, 2);
        itm_text_format(text, ", \"round\": %s", picture->is_round ? "true" : "false");
    }
    add_vertices(text, "points", picture->points, picture->npoint);
    itm_text_add(text, ", \"edges\": [");
    for (int i = 0; i < 2 * picture->nedge; i++) {
        itm_text_format(text, "%s%d", i > 0 ? "," : "", picture->edges[i]);
    }
    itm_text_add(text, "], \"modes\": [");
    for (int k = 0; k < f->n; k++) {
        add_mode(text, picture, k, f->n);
    }
    itm_text_add(text, "]");
    itm_scene_close_member(text);
}

void itm_scene_add_model(ItmSceneText* scene, const ItmModel* m, const char* prefix, int first_body, int first_mode)
{
    add_bodies(&scene->bodies, m, prefix);
    if (m->contact != NULL) {
        add_shapes(&scene->shapes, m, prefix, first_body, m->contact->colliders, m->contact->ncollider, true);
    }
    add_shapes(&scene->shapes, m, prefix, first_body, m->visuals, m->nvisual, false);
    add_joints(&scene->joints, m, prefix, first_body);
    add_lines(&scene->lines, m, prefix, first_body);
    for (int i = 0; i < m->nflexible; i++) {
        add_flexible(&scene->flexible, m, prefix, &m->flexibles[i], first_body, first_mode);
    }
}
