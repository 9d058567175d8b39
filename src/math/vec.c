#include "math/vec.h"

ItmQuat itm_vec_quat_from_mat(const ItmMat3* R)
{
    double xx = R->x.x, yy = R->y.y, zz = R->z.z;
    double trace = xx + yy + zz;
    ItmQuat q;
    if (trace >= xx && trace >= yy && trace >= zz) {
        q = (ItmQuat){1 + trace, R->y.z - R->z.y, R->z.x - R->x.z, R->x.y - R->y.x};
    } else if (xx >= yy && xx >= zz) {
        q = (ItmQuat){R->y.z - R->z.y, 1 + xx - yy - zz, R->x.y + R->y.x, R->x.z + R->z.x};
    } else if (yy >= zz) {
        q = (ItmQuat){R->z.x - R->x.z, R->x.y + R->y.x, 1 - xx + yy - zz, R->y.z + R->z.y};
    } else {
        q = (ItmQuat){R->x.y - R->y.x, R->x.z + R->z.x, R->y.z + R->z.y, 1 - xx - yy + zz};
    }
    return itm_quat_normalize(q);
}
