"""Queries about a world: methods of World (docs/PROTOCOL.md, "queries")."""
import struct

from . import joints
from .arrays import real_array, symmetric_array
from .manifest import COMMAND, DEFAULTS, QUERY, WORDS
from .pack import check_query
from .robots import Robot

PARTICLES_PAGE = 2048  # particles in one answer
PAGE = 1024  # items in one page of a list that QUERY returns in pages
ANY = 0xFFFFFFFF  # every category, and any mask
KNOWN = "as_found", "unique", "not_determined", "least_norm"  # of forces
STATUSES = WORDS["body_status"]


def _floats(values):
    return [float(value) for value in values]


MOVER_FLAGS = "on_ground", "blocked", "squeezed", "pushes", "rests"


def _known(item, place):
    """What is known of a force; None from servers that did not say it."""
    return KNOWN[item[place]] if len(item) > place else None


def _side(side):
    return side[0], side[1], side[2], tuple(side[3]), tuple(side[4])


def _mover(facts):
    flags, ground, squeezes, normal, velocity, wish, step_height, slope, push_force, snap = facts[:10]
    found = {name: bool(flags & 1 << bit) for bit, name in enumerate(MOVER_FLAGS)}
    found.update(ground=ground, squeezes=squeezes, normal=tuple(normal), velocity=tuple(velocity), wish=tuple(wish),
                 step_height=step_height, slope=slope, push_force=push_force, snap=snap)
    return found


def particles_of(answer):
    """[(serial, position, velocity, radius, mass, age, generation), …] of one page."""
    _, count, serials, *columns, generations = answer
    ids = struct.unpack(f"<{count}Q", serials)
    x, v, *rest = [struct.unpack(f"<{len(column) // 8}d", column) for column in columns]
    return [(ids[i], x[3 * i:3 * i + 3], v[3 * i:3 * i + 3], *(column[i] for column in rest), generations[i]) for i in range(count)]


def visuals_of(page):
    """{id: [(name, position, rotation, colour), …]} of a page of LOOKS."""
    return {body: [(name, tuple(position), tuple(rotation), colour) for name, position, rotation, colour in visuals]
            for body, visuals in page}


LINK_KINDS = ("rod", "rope", "volume")


def column_of(kind, values):
    """Numbers as a column of a query; `kind` is that of struct, a NumPy array goes as it is."""
    if hasattr(values, "astype"):
        return values.astype(f"<{ {'d': 'f8', 'I': 'u4'}[kind] }").tobytes()
    return struct.pack(f"<{len(values)}{kind}", *values)


def reals_of(column):
    """The numbers of a column of an answer."""
    return struct.unpack(f"<{len(column) // 8}d", column)


class WorldQueries:
    """Answers about the world as it is; a base of World."""

    def query(self, *query):
        """Sends QUERY with [kind, …] (docs/PROTOCOL.md, "queries") and returns the answer, not decoded further. Raises
        Refused."""
        ref = self.client.next_ref()
        self.client.wire.send("query", ref, self.number, list(check_query(query)))
        return self.client.wait(["answer"], lambda f: f[0] == ref)[2]

    def ray(self, origin, direction, length, limit=1, category=ANY, mask=ANY, ignore=0):
        """The hits of a ray as [(body, fraction, point, normal), …], nearest first; `length` in m, fraction 0 to 1.
        `direction` may have any length but 0. In this and other queries `category` and `mask` filter bodies, and `ignore`
        is the id of a body to skip (0: none)."""
        hits = self.query(1, _floats(origin), _floats(direction), float(length), limit, category, mask, ignore)
        return [(hit[0], hit[3], tuple(hit[4]), tuple(hit[5])) for hit in hits]

    def overlap(self, shape, position, rotation=(1, 0, 0, 0), limit=1024, category=ANY, mask=ANY, ignore=0):
        """Ids of the bodies that a placed shape (canonical bytes) overlaps."""
        return self.query(2, shape, _floats(position), _floats(rotation), limit, category, mask, ignore)

    def sensed(self, sensor, limit=1024):
        """Ids of the bodies that a sensor overlapped at the end of the last tick, ascending."""
        return self.query(QUERY["sensed"], sensor, limit)

    def pieces(self, body, limit=4096, first=0):
        """What pieces of a body have of their own, by piece and patch, without the first `first`: a list of the arguments of
        `set_piece` (dicts) that give it to them."""
        names = [name for name, _ in COMMAND["set_piece"][2]]
        return [DEFAULTS["set_piece"] | dict(zip(names, item[1:])) for item in self.query(QUERY["pieces"], body, limit, first)]

    def carriers(self, body=0, limit=1024, first=0):
        """Bodies that points carry (0: all, by rows, without the first `first`), as [(body, [point, …], off), …]; off in m: the
        largest distance of a point from its place in the body."""
        return [(item[0], list(item[1]), item[2]) for item in self.query(QUERY["carriers"], body, limit, first)]

    def contacts(self, body=0, limit=1024):
        """Contact points of a body, or (0) of all, as [(a, b, point, normal, separation, impulse), …]. The normal points
        from a to b; separation in m, < 0 in an overlap; impulse in N s over the last tick."""
        return [(c[0], c[1], tuple(c[4]), tuple(c[5]), c[6], c[7]) for c in self.query(3, body, limit)]

    def forces(self, body=0, least_norm=False, limit=1024):
        """Forces of the touching contact points of a body, or (0) of all: [(a, b, point, normal, separation (m), normal force
        (N), friction force (N, on b, with a contact's first point), known), …], means over the last tick. `known`:
        "as_found" (not unique: what the method found), "unique", "not_determined" (the island is too large to examine),
        "least_norm" (not unique: of the solution of least norm, if `least_norm` asks for it)."""
        return [(f[0], f[1], tuple(f[4]), tuple(f[5]), f[6], f[7], tuple(f[8]), KNOWN[f[9]])
                for f in self.query(QUERY["forces"], body, limit, int(least_norm))]

    def stability(self, margin=None, body=0, direction=(0, 0, 0), touch=0.0, sides=8, limit=4096, lowest=False):
        """Whether the bodies stand, at rest where they are (docs/TOWERS.md): a dict. With a `margin` ("load", "push", "tilt") also
        `stands`, `lower`, `upper` (N or tangent). `falling`: [(body, acceleration, angular), …]; `contacts`: [(a, b, point, normal,
        separation, normal force, friction, parting, breaks, known), …]; `joints`: [(joint, point, force, torque, known), …], on their second bodies about
        the anchors there (none from servers before them). With `lowest`: `lowest`, a dict of drop (J), residual, limited, programmes and
        bodies, [(body, rise, slope, across), …] (slopes along x and z). `known` as in forces(): of a force, and of all the least that is
        known; `open`: how many contacts and joints have forces that are not unique (None from older servers)."""
        ask = limit, float(touch), sides, (None, "load", "push", "tilt").index(margin), body, _floats(direction), int(lowest)
        verdict, law, quality, rounds, fallbacks, counts, bounds, falling, contacts, *more = self.query(QUERY["stability"], *ask)
        names = ("falls", "stands", "may stand", "undecided"), ("settled", "coulomb", "associative")
        answer = {"verdict": names[0][verdict], "forces": names[1][law], "rounds": rounds, "fallbacks": fallbacks}
        answer.update(zip(("residual", "kkt", "gap", "witness", "bodies", "points", "rows"), quality + counts))
        if margin is not None:
            answer.update(zip(("lower", "upper", "stands"), (float("inf") if b >= 1e300 else b for b in bounds)))
        answer["falling"] = [(b, tuple(a), tuple(w)) for b, a, w in falling]
        if len(more) > 1 and more[1]:
            (drop, residual), limited, programmes, bodies, *_ = more[1]
            answer["lowest"] = {"drop": drop, "residual": residual, "limited": limited, "programmes": programmes, "bodies": [tuple(b) for b in bodies]}
        answer["joints"] = [(j[0], *map(tuple, j[1:4]), _known(j, 4)) for j in (more[0] if more else ())]
        answer["contacts"] = [(*c[:2], *map(tuple, c[4:6]), *c[6:8], *map(tuple, c[8:10]), bool(c[10]), _known(c, 11)) for c in contacts]
        answer["known"], answer["open"] = (KNOWN[more[2][0]], more[2][1]) if len(more) > 2 else (None, None)
        return answer

    def body(self, body):
        """The facts of a body as a dict: id, status, flags, owner, tag, position, rotation, velocity, spin, mass (kg), centre
        (of mass, in body axes), shapes as [(name, position, rotation), …], and mover: None, or a dict of on_ground, blocked,
        squeezed, pushes, rests (bools), ground (id of the body on which it stands, or 0), squeezes (ticks without a place),
        normal (of its ground), velocity (m/s, in the air beside the wish), wish (m/s), step_height (m), slope (rad),
        push_force (N), snap (m). Raises Refused ("unknown_body")."""
        names = ("id", "status", "flags", "owner", "tag", "position", "rotation", "velocity", "spin", "mass", "centre",
                 "shapes")
        facts = self.query(5, body)
        found = dict(zip(names, facts))
        found["mover"] = _mover(facts[12]) if len(facts) > 12 else None
        found["status"] = STATUSES[found["status"]]
        for name in ("position", "rotation", "velocity", "spin", "centre"):
            found[name] = tuple(found[name])
        found["shapes"] = [(name, tuple(position), tuple(rotation)) for name, position, rotation in found["shapes"]]
        return found

    def geometry(self, name):
        """The canonical bytes of a shape (its 32-byte name) that this world may use."""
        data, part, of = b"", 0, 1
        while part < of:
            _, of, more = self.query(6, name, part)
            data, part = data + more, part + 1
        return data

    def cast(self, shape, position, way, rotation=(1, 0, 0, 0), limit=1, category=ANY, mask=ANY, ignore=0):
        """The hits of a convex shape (canonical bytes, or the 32-byte name of a shape of this world) that moves along
        `way` (m) without turning: [(body, fraction, point, normal, depth), …], nearest first. depth (m) is that of an
        overlap at the start."""
        hits = self.query(7, shape, _floats(position), _floats(way), _floats(rotation), limit, category, mask,
                          ignore)
        return [(hit[0], hit[3], tuple(hit[4]), tuple(hit[5]), hit[6]) for hit in hits]

    def closest(self, body, other=0, reach=1000.0):
        """The nearest points of two bodies, or with other = 0 of a body and the body nearest to it: (distance, normal, side,
        side); None if no body is within `reach` (m). A distance < 0 is a depth. A side is (body, placement, child, point,
        vertices)."""
        answer = self.query(8, body, other, float(reach))
        if not answer:
            return None
        return answer[0], tuple(answer[1]), _side(answer[2]), _side(answer[3])

    def mass(self, body=0):
        """Mass properties of a body, or (0) of all dynamic bodies together, about their centre in world axes, as a dict: mass
        (kg), centre, inertia [xx, yy, zz, xy, xz, yz] (kg m²), moments (principal, largest first), axes (rotation of the
        principal axes), radius (m), bodies (count)."""
        names = ("mass", "centre", "inertia", "moments", "axes", "radius", "bodies")
        return dict(zip(names, self.query(9, body)))

    def move(self, shape, position, way, rotation=(1, 0, 0, 0), iterations=4, slope=0.7, step=0.0, skin=0.001,
             category=ANY, mask=ANY, ignore=0):
        """Moves a character of this shape along `way` (m) with sliding, without changing the world. Returns a dict;
        `contacts` and `ground` are hits as cast() returns them. `slope`: cosine of the steepest walkable ground; `step`:
        highest ledge (m) that it climbs; `skin`: distance (m) it stays from obstacles."""
        position, left, flags, used, climbed, ground, contacts = self.query(
            10, shape, _floats(position), _floats(way), _floats(rotation), iterations, float(slope),
            float(step), float(skin), category, mask, ignore)
        short = [(hit[0], hit[3], tuple(hit[4]), tuple(hit[5]), hit[6]) for hit in contacts + [ground or []]
                 if hit]
        return {"position": tuple(position), "left": tuple(left), "grounded": bool(flags & 1),
                "stuck": bool(flags & 2), "iterations": used, "climbed": climbed,
                "ground": short.pop() if ground else None, "contacts": short}

    def regions(self, body, other, limit=64):
        """The regions in which two closed solids overlap, deepest first: [(depth (m), volume (m³), point, other's point,
        normal), …]. Spheres, capsules and planes have no regions."""
        return [(r[2], r[3], tuple(r[4]), tuple(r[5]), tuple(r[6])) for r in self.query(11, body, other, limit)]

    def methods(self):
        """All methods, as dicts; `why` is None if the world could switch to it now, else the reason; `abilities` a set of
        words, `names` {other name: (parameter, value) or None}."""
        words = ("friction", "restitution", "sleep", "planar", "spatial", "joints")
        return [{"number": number, "name": name, "motion": motion, "shapes": shapes,
                 "abilities": {word for bit, word in enumerate(words) if abilities >> bit & 1},
                 "why": why if code else None, "summary": summary,
                 "names": {other: (parameter, value) if parameter else None for other, parameter, value in names}}
                for number, name, motion, shapes, abilities, code, why, summary, names in self.query(QUERY["methods"])]

    def parameters(self):
        """{name: dict} of the parameters, with their values in this world; `methods` lists the methods that read it."""
        words = ("number", "name", "value", "initial", "least", "most", "whole", "unit", "methods", "old", "meaning")
        return {row[1]: dict(zip(words, row[:6] + [bool(row[6])] + row[7:])) for row in self.query(QUERY["parameters"])}

    def joint(self, joint):
        """One joint as a dict; `axes` are six dicts with the fields of the command joint_axis. Raises Refused
        ("unknown_joint")."""
        return joints.of_answer(self.query(QUERY["joint"], joint))

    def joints(self, body=0):
        """The joints of a body, or (0) all joints, by id, as dicts: id, type, passes, asleep, a, b, coordinates (m, rad), force
        (N), torque (N m), anchor_a, anchor_b (m, world), owner, tag."""
        return [joints.of_list(item) for item in self._pages("joints", body, lambda item: item[0])]

    def robot(self, body=0, arrays=False):
        """The bodies that joints link with `body` (0: all dynamic ones) in reduced coordinates, a dict (docs/ROBOTS.md): links [(body,
        parent, joint, kind, axes), …], kind "base", "axes" or "ball"; q, rates, accelerations, bias and forces (tuples, or with
        `arrays` read-only NumPy arrays); closure_rows, closure_rank, residual, regular."""
        links, *columns, closures, regular, forces = self.query(QUERY["robot"], body)
        columns.append(forces)
        names = "q", "rates", "accelerations", "bias", "forces"
        found = {"links": [(*link[:3], ("base", "axes", "ball")[link[3]], tuple(link[4])) for link in links]}
        found.update(zip(names, map(real_array if arrays else reals_of, columns)))
        found.update(zip(("closure_rows", "closure_rank", "residual"), closures), regular=bool(regular))
        return found

    def inertia(self, body, arrays=False):
        """The mass matrix of a robot over the axes of its links, rows of a symmetric matrix; with `arrays` a NumPy array of
        (axes, axes)."""
        axes, entries = self.query(QUERY["inertia"], body)
        if arrays:
            return symmetric_array(axes, entries)
        lower = reals_of(entries)
        return [[lower[max(i, j) * (max(i, j) + 1) // 2 + min(i, j)] for j in range(axes)] for i in range(axes)]

    def jacobian(self, body, position, arrays=False):
        """Six rows over the axes of the robot: the velocity of a point (m, world) of a body, and the body's spin; with `arrays`
        a read-only NumPy array of (6, axes)."""
        axes, entries = self.query(QUERY["jacobian"], body, _floats(position))
        if arrays:
            return real_array(entries).reshape(6, axes)
        values = reals_of(entries)
        return [list(values[row * axes:(row + 1) * axes]) for row in range(6)]

    def forward_dynamics(self, bodies, forces=(), still=False, arrays=False):
        """Accelerations of the axes of robots under forces (N, N m) of their axes, in one round trip: `bodies` has one body of each
        robot, `forces` the numbers of all their axes, one robot after another (none: 0); with `still` as if no body moved. One dict
        for each robot: accelerations (a tuple, or with `arrays` a read-only NumPy array), closure_rows, closure_rank, residual,
        regular (docs/ROBOTS.md)."""
        return self._dynamics("accelerations", bodies, 0, forces, still, arrays)

    def inverse_dynamics(self, bodies, accelerations=(), still=False, arrays=False):
        """Forces of the axes of robots that cause accelerations of their axes (none: 0), as forward_dynamics; the dicts have
        `forces`. Without accelerations and with `still` they hold the robots against gravity."""
        return self._dynamics("forces", bodies, 1, accelerations, still, arrays)

    def _dynamics(self, name, bodies, inverse, values, still, arrays):
        items, column = self.query(QUERY["dynamics"], column_of("I", bodies), inverse, column_of("d", values), int(still))
        found, at = [], 0
        numbers = (real_array if arrays else reals_of)(column)
        for axes, rows, rank, residual, regular in items:
            found.append({name: numbers[at:at + axes], "closure_rows": rows, "closure_rank": rank, "residual": residual,
                          "regular": bool(regular)})
            at += axes
        return found

    def robot_view(self, body, arrays=False):
        """A view of the robot of a body by names of its axes (cairn.robots.Robot): names, q, qd, tau."""
        return Robot(self, body, arrays)

    def linked(self, body):
        """Ids of all bodies connected to `body` by joints, `body` included."""
        return self._pages("linked", body, lambda item: item)

    def _pages(self, name, body, id_of):
        """All items of a query that returns at most PAGE items per request."""
        found, first = [], 0
        while True:
            items = self.query(QUERY[name], body, PAGE, first)
            found += items
            if len(items) < PAGE:
                return found
            first = id_of(items[-1]) + 1

    def fields(self):
        """The force fields by id, as dicts with the arguments of field_create, and `id`."""
        names = ("id", "kind", "region", "falloff", "flags", "power", "mask", "tag", "position", "rotation", "half", "strength",
                 "velocity", "linear", "quadratic", "angular", "core", "density")
        found = [dict(zip(names, item)) for item in self.query(QUERY["fields"])[2]]
        for field in found:
            for name in ("kind", "region", "falloff"):
                field[name] = WORDS[f"field_{name}"][field[name]]
            for name in ("position", "rotation", "half", "strength", "velocity"):
                field[name] = tuple(field[name])
        return found

    def systems(self):
        """The particle systems by id, as dicts: id, name, owner, tag, emitter, counts (alive, capacity, born, lost, refused, cut), and
        the numbers of particles_create, particles_interact (substeps 0: not given), particles_split, particles_trail (trail 0: none), particles_self,
        particles_limit and particles_emitter (mount 0: none; else position and rotation are in that body's axes), as
        (mean, deviation) where they have one; colours: [(age, 0xRRGGBB), …]; meets, of particles_meet: [(other system,
        thickness, friction, overlap), …]; taken: particles that sinks took; sinks: as particles_sink made them, dicts of
        number, region, body, position, rotation, size, radius, taken, mass (kg)."""
        names = ("id", "name", "owner", "tag", "emitter", "alive", "capacity", "born", "lost", "refused", "cut", "position",
                 "rotation", "half", "size", "mass", "life", "speed", "spread", "drag", "gravity_scale", "category", "mask", "colours",
                 "forces", "collisions", "substeps", "cutoff", "core", "charge", "gravitation", "well_depth", "well_distance", "repulsion",
                 "repulsion_damping", "crowded", "links", "pins", "link_substeps", "torn", "stretch", "volume_error",
                 "split_number", "split_age", "split_delay", "split_depth", "split_velocity", "split_spread", "split_burst", "split_size",
                 "split_life", "split_spend", "splits", "trail", "trail_delay", "trail_depth", "trail_velocity", "contacts", "holds",
                 "self_thickness", "self_friction", "self_overlap", "mount", "mount_velocity", "recoil", "room",
                 "stretch_limit", "limit_passes", "meets",
                 "taken", "sinks")
        sink_names = ("number", "region", "body", "position", "rotation", "size", "radius", "taken", "mass")
        found = [dict(zip(names, item)) for item in self.query(QUERY["systems"])]
        for system in found:
            for name in ("forces", "collisions"):
                system[name] = WORDS["interact"][system[name]]
            system["emitter"] = WORDS["emitter"][system["emitter"]]
            system["colours"] = [(age, int(colour)) for age, colour in system["colours"]]
            system["meets"] = [(int(other), *numbers) for other, *numbers in system["meets"]]
            system["contacts"] = WORDS["contacts"][system["contacts"]]
            system["recoil"], system["room"] = WORDS["recoil"][system["recoil"]], WORDS["room"][system["room"]]
            system["sinks"] = [dict(zip(sink_names, sink)) for sink in system["sinks"]]
            for sink in system["sinks"]:
                sink["region"] = WORDS["sink_region"][sink["region"]]
                for name in ("position", "rotation", "size"):
                    sink[name] = tuple(sink[name])
            system["split_spend"] = WORDS["spend"][system["split_spend"]]
            for name in ("position", "rotation", "half", "size", "mass", "life", "speed", "split_number", "split_age", "split_velocity",
                         "split_burst", "split_size", "split_life"):
                system[name] = tuple(system[name])
        return found

    def particles(self, system):
        """The particles of a system by serial number, exactly: [(serial, position, velocity, radius, mass, age, generation), …] in m,
        m/s, kg, s. Of a world that runs, pages of 2048 may be of different ticks."""
        found, page = [], None
        while page is None or len(page) == PARTICLES_PAGE:
            page = particles_of(self.query(QUERY["particles"], system, found[-1][0] if found else 0, PARTICLES_PAGE, 0))
            found += page
        return found

    def fluids(self):
        """The particle systems that are fluids, as dicts: system, particles, solver, the numbers of particles_fluid, and figures of the
        last tick (docs/FLUIDS.md)."""
        names = ("system", "particles", "solver", "kernel_radius", "rest_density", "viscosity", "wall_viscosity", "surface_tension",
                 "tolerance", "compression", "speed", "stiffness", "step_ratio", "substeps_max", "substeps", "iterations", "density_error",
                 "density_error_max", "residual", "divergence_error", "speed_max", "capped", "unconverged", "inside", "crowded", "lost",
                 "bad", "blocked", "unsampled", "coarse")
        found = [dict(zip(names, item)) for item in self.query(QUERY["fluids"])]
        for fluid in found:
            fluid["solver"] = ("explicit", "incompressible")[fluid["solver"]]
        return found

    def links(self, system):
        """The links between the particles of a system in the order in which they are solved: [(kind, serial numbers), …], kind being
        "rod", "rope" (two numbers) or "volume" (four; in a planar world three)."""
        found, page = [], None
        while page is None or len(page) == PARTICLES_PAGE:
            _, numbers = self.query(QUERY["links"], system, len(found), PARTICLES_PAGE)
            page = [(LINK_KINDS[kind], ends[:2 if kind != 2 else 3 + (ends[3] > 0)]) for kind, *ends in struct.iter_unpack("<5I", numbers)]
            found += page
        return found

    def field_force(self, position, velocity=(0, 0, 0), mass=1.0):
        """What all force fields together exert at a place (m) on a point of `mass` kg that moves at `velocity` (m/s):
        (acceleration (m/s2), force (N) to be added)."""
        acceleration, force, _ = self.query(QUERY["fields"], position, velocity, mass)
        return tuple(acceleration), tuple(force)

    def colours(self):
        """{id: 0xRRGGBB} of the bodies that have a colour (command set_colour, key colour of scenes)."""
        found, first = {}, 0
        while True:
            runs = self.client.ask("reply", "looks", self.number, first)[1]
            for body, count, colour in runs:
                found.update(dict.fromkeys(range(body, body + count), colour))
            if len(runs) < PAGE:
                return found
            first = runs[-1][0] + runs[-1][1]

    def visuals(self):
        """{id: [(name of the shape (32 bytes), position (m) and rotation in body axes, 0xRRGGBB or None: the body's), …]} of the
        bodies that pictures show as something else than their shapes (command add_visual, key visuals of scenes)."""
        return visuals_of(self._looks(1))

    def names(self):
        """{id: name} of the bodies that have one: those of robot files, of scenes with `names`, and of the command name_body."""
        return dict(self._looks(2))

    def joint_names(self):
        """{id: name} of the joints that have one: those of robot files, keys `name` of scenes, and of the command name_joint."""
        return dict(self._looks(3))

    def _looks(self, what):
        """All items of LOOKS, whose first element is an id."""
        found, first = [], 0
        while True:
            page = self.client.ask("reply", "looks", self.number, first, what)[1]
            found += page
            if not page:
                return found
            first = page[-1][0] + 1

    def totals(self):
        """Sums over all bodies: (kinetic (J), potential (J; zero at the origin), linear momentum (N s), angular momentum
        (N m s, about the origin))."""
        kinetic, potential, linear, angular = self.query(4)
        return kinetic, potential, tuple(linear), tuple(angular)
