#include "drive/motor.h"

#include <math.h>
#include <string.h>

static double within(double x, double limit)
{
    return fmin(fmax(x, -limit), limit);
}

// Coordinates of the output per radian of the rotor: 1 / ratio; a winch: -drum_radius / (ratio parts), because hauling in shortens
static double get_gain(const ItmDriveDef* def)
{
    return def->drum_radius > 0.0 ? -def->drum_radius / (def->ratio * def->parts) : 1.0 / def->ratio;
}

// Angle of the rotor at the start: the twist under start_load
static double get_start_angle(const ItmDriveDef* def)
{
    bool is_winch = def->drum_radius > 0.0;
    double twist = def->start_load / def->stiffness;
    twist += is_winch || twist == 0.0 ? 0.0 : copysign(0.5 * def->backlash, twist);
    return is_winch ? twist * def->ratio / def->drum_radius : twist * def->ratio;
}

// ---------------------------------------------------------------------------- gearbox and rope

// T = K dead(twist) + D twist', where a flank touches and pushes
static double compute_gear_torque(const ItmDriveDef* def, const double* x, ItmMotorPort port)
{
    double twist = x[ITM_MOTOR_ANGLE] / def->ratio - port.s, half = 0.5 * def->backlash;
    double pressed = twist > half ? twist - half : twist < -half ? twist + half : 0.0;
    if (pressed == 0.0) {
        return 0.0;
    }
    double torque = def->stiffness * pressed + def->damping * (x[ITM_MOTOR_RATE] / def->ratio - port.w);
    return torque * pressed > 0.0 ? torque : 0.0;
}

// F = max(0, K e + D e') where e > 0
static double compute_tension(const ItmDriveDef* def, const double* x, ItmMotorPort port)
{
    double by_rotor = def->drum_radius / def->ratio;
    double stretch = def->parts * port.s + by_rotor * x[ITM_MOTOR_ANGLE];
    double rate = def->parts * port.w + by_rotor * x[ITM_MOTOR_RATE];
    return stretch > 0.0 ? fmax(0.0, def->stiffness * stretch + def->damping * rate) : 0.0;
}

// ---------------------------------------------------------------------------- control

// Current command from that of position or speed: i = gain (w_ref - w_m) + z, clipped at the limit; z' = integral (w_ref - w_m), which
// stops while it would drive further into the limit.
static double compute_current_command(const ItmDriveDef* def, const double* x, double command, double s_start,
                                      double* z_dot)
{
    *z_dot = 0.0;
    if (def->mode == ITM_DRIVE_CURRENT) {
        return within(command, def->current_limit);
    }
    double gain = get_gain(def), rate = command / gain;
    if (def->mode == ITM_DRIVE_POSITION) {
        rate = def->position_gain * ((command - s_start) / gain + get_start_angle(def) - x[ITM_MOTOR_ANGLE]);
    }
    double error = rate - x[ITM_MOTOR_RATE], wanted = def->speed_gain * error + x[ITM_MOTOR_ZW];
    double current = within(wanted, def->current_limit);
    *z_dot = (wanted - current) * error > 0.0 ? 0.0 : def->speed_integral * error;
    return current;
}

// u = L bandwidth (i_ref - i) + z + the induced voltage, clipped at the limit; z' = R bandwidth (i_ref - i)
static double compute_voltage(double L, double R, double bandwidth, double limit, double error, double z,
                              double induced, double* z_dot)
{
    double wanted = L * bandwidth * error + z + induced, u = within(wanted, limit);
    *z_dot = (wanted - u) * error > 0.0 ? 0.0 : R * bandwidth * error;
    return u;
}

// ---------------------------------------------------------------------------- motor

// Rates of currents and voltages; returns the torque.
//   DC     L i' = u - R i - k w_m,                                  T = k i
//   PMSM   L_d i_d' = u_d - R i_d + w_e L_q i_q,   w_e = pole_pairs w_m
//          L_q i_q' = u_q - R i_q - w_e (L_d i_d + psi),            T = 3/2 pole_pairs (psi i_q + (L_d - L_q) i_d i_q)
static double compute_motor(const ItmDriveDef* def, double* x_dot, const double* x, double command, double s_start,
                            ItmMotorView* view)
{
    bool is_pmsm = def->kind == ITM_DRIVE_PMSM, has_control = def->mode != ITM_DRIVE_VOLTAGE;
    double R = def->resistance, L_q = def->inductance, L_d = def->inductance_d > 0.0 ? def->inductance_d : L_q;
    double i_q = x[ITM_MOTOR_IQ], i_d = x[ITM_MOTOR_ID], w_m = x[ITM_MOTOR_RATE];
    double w_e = is_pmsm ? def->pole_pairs * w_m : 0.0;
    double psi = is_pmsm ? def->torque_constant / (1.5 * def->pole_pairs) : 0.0;
    double emf_q = is_pmsm ? w_e * (L_d * i_d + psi) : def->torque_constant * w_m, emf_d = -w_e * L_q * i_q;
    double u_d = 0.0, u_q = within(command, def->voltage_limit);
    if (has_control) {
        double bandwidth = def->current_bandwidth, limit = def->voltage_limit;
        double i_ref = compute_current_command(def, x, command, s_start, &x_dot[ITM_MOTOR_ZW]);
        if (is_pmsm) {
            u_d = compute_voltage(L_d, R, bandwidth, limit, -i_d, x[ITM_MOTOR_ZD], emf_d, &x_dot[ITM_MOTOR_ZD]);
            limit = sqrt(fmax(limit * limit - u_d * u_d, 0.0));
        }
        u_q = compute_voltage(L_q, R, bandwidth, limit, i_ref - i_q, x[ITM_MOTOR_ZQ], emf_q, &x_dot[ITM_MOTOR_ZQ]);
    }
    x_dot[ITM_MOTOR_IQ] = (u_q - R * i_q - emf_q) / L_q;
    x_dot[ITM_MOTOR_ID] = is_pmsm ? (u_d - R * i_d - emf_d) / L_d : 0.0;
    view->voltage = is_pmsm ? hypot(u_d, u_q) : u_q;
    view->power = is_pmsm ? 1.5 * (u_d * i_d + u_q * i_q) : u_q * i_q;
    return is_pmsm ? 1.5 * def->pole_pairs * (psi * i_q + (L_d - L_q) * i_d * i_q) : def->torque_constant * i_q;
}

ItmMotorView itm_motor_compute(const ItmDriveDef* def, double* x_dot, const double* x, ItmMotorPort port,
                               double command, double s_start)
{
    double rates[ITM_MOTOR_STATES] = {0.0};
    ItmMotorView view = {0};
    bool is_winch = def->drum_radius > 0.0;
    view.load = is_winch ? compute_tension(def, x, port) : compute_gear_torque(def, x, port);
    view.force = is_winch ? -def->parts * view.load : view.load;
    view.torque = compute_motor(def, rates, x, command, s_start, &view);

    // J w_m' = T_m - viscous w_m - coulomb sat(w_m) - load at the rotor
    double w_m = x[ITM_MOTOR_RATE],
           friction = def->viscous * w_m + def->coulomb * within(w_m / def->coulomb_speed, 1.0);
    double at_rotor = is_winch ? view.load * def->drum_radius / def->ratio : view.load / def->ratio;
    rates[ITM_MOTOR_RATE] = (view.torque - friction - at_rotor) / def->inertia;
    rates[ITM_MOTOR_ANGLE] = w_m;
    if (x_dot != NULL) {
        memcpy(x_dot, rates, sizeof rates);
    }
    return view;
}

void itm_motor_start(const ItmDriveDef* def, double* x)
{
    memset(x, 0, sizeof(double) * ITM_MOTOR_STATES);
    bool is_winch = def->drum_radius > 0.0;
    x[ITM_MOTOR_ANGLE] = get_start_angle(def);
    double at_rotor = is_winch ? def->start_load * def->drum_radius / def->ratio : def->start_load / def->ratio;
    x[ITM_MOTOR_IQ] = x[ITM_MOTOR_ZW] = at_rotor / def->torque_constant;
    x[ITM_MOTOR_ZQ] = def->resistance * x[ITM_MOTOR_IQ];
}
