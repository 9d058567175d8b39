# Lines "subject scene n metric value" of all rounds in, one side-by-side table out.
# Times: microseconds of CPU time per step, minimum over the rounds; in brackets Interim over peer.

BEGIN {
    npeer = split("mujoco bullet ode simbody dart", peers)
    # heights of the tip after one second, on which MuJoCo, Bullet, Simbody and DART agree to all digits shown
    tip["arm", 7] = -0.335754329
    tip["arm-gravity", 7] = -5.10905209
    tip["chain", 10] = -4.82105843
    tip["chain", 30] = -4.91333469
    tip["chain", 100] = -4.91341316
    tip["chain", 300] = -4.91333832
    tip["chain", 1000] = -4.91326997
}

NF == 5 {
    key = $1 SUBSEP $2 SUBSEP $3 SUBSEP $4
    count[key]++
    value[key, count[key]] = $5
    if (!(key in low) || $5 + 0 < low[key]) low[key] = $5 + 0
    if (!(key in high) || $5 + 0 > high[key]) high[key] = $5 + 0
    if (count[key] > rounds) rounds = count[key]
    scenes[$2] = 1
}

function median(key,    i, j, x, n, sorted) {
    n = count[key]
    for (i = 1; i <= n; i++) {
        x = value[key, i] + 0
        for (j = i - 1; j >= 1 && sorted[j] > x; j--) sorted[j + 1] = sorted[j]
        sorted[j + 1] = x
    }
    return n % 2 ? sorted[(n + 1) / 2] : (sorted[n / 2] + sorted[n / 2 + 1]) / 2
}

function verdict(is_met) {
    return is_met ? "yes" : "NO"
}

# A star where the time limit ended a run before the time that it should measure.
function mark_of(subject, scene, n) {
    return (subject SUBSEP scene SUBSEP n SUBSEP "cut_s") in low ? " *" : ""
}

function cut_rows(    key, part) {
    for (key in low) {
        split(key, part, SUBSEP)
        if (part[4] == "cut_s")
            printf "* CUT SHORT at %.2f s of simulated time: %s %d, %s. Its figures are not those of the time that the table names.\n", \
                low[key], part[2], part[3], part[1]
    }
}

# One case of one of our subjects beside the peers; goal: at most `limit` times the time of `peer`.
function speed_row(label, subject, scene, n, metric, peer, limit,    key, other, i, ratio, goal, met) {
    key = subject SUBSEP scene SUBSEP n SUBSEP metric
    if (!(key in low)) return
    printf "%-32s %9.2f %9.2f", label mark_of(subject, scene, n), low[key], median(key)
    goal = met = ""
    for (i = 1; i <= npeer; i++) {
        other = peers[i] SUBSEP scene SUBSEP n SUBSEP metric
        if (!(other in low)) {
            printf " %16s", "-"
            continue
        }
        ratio = low[key] / low[other]
        printf " %9.2f%s (%4.2f)", low[other], mark_of(peers[i], scene, n) != "" ? "*" : "", ratio
        if (peers[i] == peer) met = verdict(ratio <= limit)
    }
    if (peer != "") goal = sprintf("<= %.2f %s", limit, peer)
    if (peer != "" && met == "") met = "no peer"
    printf "  %-16s %s\n", goal, met
}

# family: interim, with goals, or native, without
function speed_rows(family,    n, i, sizes, has_goals, peer) {
    has_goals = family == "interim"
    peer = has_goals ? "mujoco" : ""
    speed_row("arm, forward", family "-joint", "arm", 7, "forward_us", peer, 0.5)
    speed_row("arm, inverse", family "-joint", "arm", 7, "inverse_us", peer, 0.5)
    speed_row("arm, step", family "-joint", "arm", 7, "step_us", peer, 0.5)
    speed_row("arm with gravity, forward", family "-joint", "arm-gravity", 7, "forward_us", peer, 0.5)
    speed_row("arm with gravity, step", family "-joint", "arm-gravity", 7, "step_us", peer, 0.5)
    n = split("10 30 100 300 1000", sizes)
    for (i = 1; i <= n; i++) {
        peer = !has_goals ? "" : sizes[i] == 10 ? "mujoco" : "bullet"
        speed_row("chain " sizes[i] ", joint", family "-joint", "chain", sizes[i], "step_us", peer, 0.5)
        speed_row("chain " sizes[i] ", absolute", family "-absolute", "chain", sizes[i], "step_us", has_goals ? "bullet" : "", 1)
    }
    n = split("2 10 40", sizes)
    for (i = 1; i <= n; i++) {
        peer = has_goals ? "mujoco" : ""
        speed_row("four-bar " sizes[i] ", joint", family "-joint", "loop", sizes[i], "step_us", peer, 0.5)
        speed_row("four-bar " sizes[i] ", absolute", family "-absolute", "loop", sizes[i], "step_us", "", 0)
    }
    brick_rows(family)
}

# Bricks and piles: Bullet's time at a hundredth of its penetration.
function brick_rows(family,    n, i, sizes, peer) {
    peer = family == "interim" ? "bullet" : ""
    n = split("10 50 200", sizes)
    for (i = 1; i <= n; i++)
        speed_row("wall " sizes[i], family "-absolute", "wall", sizes[i], "step_us", peer, 1)
    n = split("10 30 100 300 1000", sizes)
    for (i = 1; i <= n; i++)
        speed_row("floor " sizes[i], family "-absolute", "floor", sizes[i], "step_us", peer, 1)
    n = split("1000 5000", sizes)
    for (i = 1; i <= n; i++) {
        speed_row("boxes " sizes[i] ", falling", family "-absolute", "pile-boxes", sizes[i], "fall_us", peer, 1)
        speed_row("boxes " sizes[i] ", at rest", family "-absolute", "pile-boxes", sizes[i], "step_us", peer, 1)
        pile_row("boxes " sizes[i], family "-absolute", "pile-boxes", sizes[i])
    }
    for (i = 1; i <= n; i++) {
        speed_row("spheres " sizes[i] ", falling", family "-absolute", "pile-spheres", sizes[i], "fall_us", peer, 1)
        speed_row("spheres " sizes[i] ", heap", family "-absolute", "pile-spheres", sizes[i], "step_us", peer, 1)
        pile_row("spheres " sizes[i], family "-absolute", "pile-spheres", sizes[i])
    }
}

# Depth and unsolved islands of a pile.
function pile_row(label, subject, scene, n,    key) {
    key = subject SUBSEP scene SUBSEP n SUBSEP
    if (!((key "penetration") in high) || subject !~ /^interim/) return
    printf "%-32s penetration %.1e m (goal <= 1e-5: %s), unsolved islands %d (goal 0: %s)\n", label, high[key "penetration"], \
        verdict(high[key "penetration"] <= 1e-5), high[key "unsolved"], verdict(high[key "unsolved"] == 0)
}

# Time or memory against size: exponent p in n^p, and whether it is close to linear.
function growth_row(label, subject, scene, n_a, n_b, metric, limit, offset,    a, b, p) {
    a = subject SUBSEP scene SUBSEP n_a SUBSEP metric
    b = subject SUBSEP scene SUBSEP n_b SUBSEP metric
    if (!(a in low) || !(b in low)) return
    p = offset + log(low[b] / low[a]) / log(n_b / n_a)
    printf "%-52s n^%.3f   goal p <= %.2f   %s\n", label, p, limit, verdict(p <= limit)
}

# What flexibility costs: the arm with 15 freedoms beside the one with 7.
function flexible_row(subject, metric, limit,    rigid, flexible, ratio) {
    rigid = subject SUBSEP "flexible" SUBSEP 7 SUBSEP metric
    flexible = subject SUBSEP "flexible" SUBSEP 15 SUBSEP metric
    if (!(rigid in low) || !(flexible in low)) return
    ratio = low[flexible] / low[rigid]
    printf "%-52s %.2f / %.2f us = %.2f   goal <= %.2f   %s\n", "flexible / rigid arm, " subject ", " metric, \
        low[flexible], low[rigid], ratio, limit, verdict(ratio <= limit)
}

function memory_row(subject,    key) {
    key = subject SUBSEP "memory" SUBSEP 1000 SUBSEP "bytes_per_body"
    if (!(key in low)) return
    printf "%-52s %.0f bytes a body at 1000 bodies\n", "memory, " subject, low[key]
}

function gap_row(subject, n,    key) {
    key = subject SUBSEP "loop" SUBSEP n SUBSEP "gap"
    if (!(key in high)) return
    printf "%-52s %.1e m   goal <= 1e-12   %s\n", "four-bar " n ", joint gap, " subject, high[key], verdict(high[key] <= 1e-12)
}

function limit_row(label, scene, n, metric, unit, limit,    key) {
    key = "interim-absolute" SUBSEP scene SUBSEP n SUBSEP metric
    if (!(key in high)) return
    printf "%-52s %.1e %s   goal < %.0e   %s\n", scene " " n ", " label, high[key], unit, limit, verdict(high[key] < limit)
}

# What the bricks of every subject do where they should rest.
function rest_rows(    k, i, n, s, sizes, subjects, key) {
    if (!("wall" in scenes)) return
    n = split("10 50 200", sizes)
    s = split("interim-absolute mujoco bullet ode", subjects)
    for (k = 1; k <= n; k++)
        for (i = 1; i <= s; i++) {
            key = subjects[i] SUBSEP "wall" SUBSEP sizes[k] SUBSEP
            if (!((key "creep") in high)) continue
            printf "%-18s %-18s creep %.1e m/s, penetration %.1e m, %d contacts, %.0f us a step while settling\n", \
                "wall " sizes[k], subjects[i], high[key "creep"], high[key "penetration"], high[key "contacts"], \
                low[key "settle_us"]
        }
}

function tip_row(scene, n,    i, key, subject) {
    for (i = 1; i <= npeer + 2; i++) {
        subject = i == 1 ? "interim-joint" : i == 2 ? "interim-absolute" : peers[i - 2]
        key = subject SUBSEP scene SUBSEP n SUBSEP "tip_z"
        if ((key, 1) in value && value[key, 1] !~ /nan/)
            printf "  %s %.1e", subject, value[key, 1] - tip[scene, n]
    }
}

function accuracy_rows(    k, i, s, part, subject, key, subjects, n, sizes) {
    n = split("arm,7 arm-gravity,7 chain,10 chain,30 chain,100 chain,300 chain,1000", sizes, " ")
    for (k = 1; k <= n; k++) {
        split(sizes[k], part, ",")
        if (!(part[1] in scenes)) continue
        printf "%-18s tip height off by, m:", part[1] " " part[2]
        tip_row(part[1], part[2])
        printf "\n"
    }
    if (!("loop" in scenes)) return
    n = split("2 10 40", sizes)
    s = split("interim-joint interim-absolute mujoco bullet ode simbody", subjects)
    for (k = 1; k <= n; k++)
        for (i = 1; i <= s; i++) {
            key = subjects[i] SUBSEP "loop" SUBSEP sizes[k] SUBSEP
            if (!((key "gap") in high)) continue
            printf "%-18s %-18s gap %.1e m, energy error %.1e J, top of first upright off by %.1e m after %.1f s\n", \
                "four-bar " sizes[k], subjects[i], high[key "gap"], high[key "energy_error"], high[key "top_error"], low[key "seconds"]
        }
}

END {
    printf "Microseconds of CPU time per step, one thread, h = 1/600 s; minimum over %d rounds; (Interim / peer)\n\n", rounds
    printf "%-32s %9s %9s", "case", "Interim", "median"
    for (i = 1; i <= npeer; i++) printf " %16s", peers[i]
    printf "  %-16s %s\n", "goal", "met"
    speed_rows("interim")
    print "\nThe same with Interim compiled for this machine, -march=native\n"
    speed_rows("native")
    cut_rows()
    print "\nGrowth and accuracy\n"
    growth_row("chain, joint: time, n = 100 to 1000", "interim-joint", "chain", 100, 1000, "step_us", 1.1, 0)
    growth_row("chain, absolute: time, n = 100 to 1000", "interim-absolute", "chain", 100, 1000, "step_us", 1.1, 0)
    growth_row("floor: time, n = 10 to 1000", "interim-absolute", "floor", 10, 1000, "step_us", 1.1, 0)
    growth_row("chain, joint: bytes of a data object, 100 to 1000", "interim-joint", "memory", 100, 1000, "bytes_per_body", 1.02, 1)
    growth_row("chain, absolute: bytes of a data object, 100 to 1000", "interim-absolute", "memory", 100, 1000, "bytes_per_body", 1.02, 1)
    flexible_row("interim-joint", "forward_us", 3)
    flexible_row("interim-joint", "step_us", 3)
    flexible_row("interim-absolute", "step_us", 3)
    memory_row("interim-joint")
    memory_row("interim-absolute")
    n = split("2 10 40", sizes)
    for (i = 1; i <= n; i++) {
        gap_row("interim-joint", sizes[i])
        gap_row("interim-absolute", sizes[i])
    }
    n = split("10 50 200", sizes)
    for (i = 1; i <= n; i++) {
        limit_row("creep", "wall", sizes[i], "creep", "m/s", 1e-6)
        limit_row("penetration", "wall", sizes[i], "penetration", "m", 1e-6)
    }
    accuracy_rows()
    rest_rows()
}
