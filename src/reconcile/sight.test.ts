import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { Seen } from "./judge-entry.ts";
import { Sight } from "./sight.ts";

const at = (id: string, seen: Seen, path = `/run/netns/${id}`): { id: string; path: string; seen: Seen } => ({ id, path, seen });

test("RT-02 an agent that never saw a namespace is not trusted if it sees none, for any time", () => {
  const sight = new Sight();
  sight.look([at("a", "gone")], 0);
  expect(sight.look([at("a", "gone")], 1e9)).toEqual([{ sighted: false, goneMs: 1e9 }]);
});

test("RT-02 a namespace counts as gone if the agent saw it before, or a neighbour in its directory, but not in other directories", () => {
  const sight = new Sight();
  const others = [at("b", "gone"), at("far", "gone", "/var/run/netns/far")];
  sight.look([at("a", "there"), ...others], 0);
  sight.look([at("a", "gone"), ...others], 100);
  expect(sight.look([at("a", "gone"), ...others], 250)).toEqual([
    { sighted: true, goneMs: 150 },
    { sighted: true, goneMs: 250 },
    { sighted: false, goneMs: 250 },
  ]);
});

test("RT-02 a namespace that is seen again, belongs to another ADD or cannot be looked at begins its time again", () => {
  const sight = new Sight();
  sight.look([at("a", "there")], 0);
  sight.look([at("a", "gone")], 1);
  sight.look([at("a", "there")], 2);
  expect(sight.look([at("a", "gone")], 3)).toEqual([{ sighted: true, goneMs: 0 }]);
  sight.look([], 4);
  expect(sight.look([at("a", "gone")], 5)).toEqual([{ sighted: true, goneMs: 0 }]);
  for (const seen of ["unknown", "other"] as const) {
    sight.look([at("a", seen)], 6);
    expect(sight.look([at("a", "gone")], 7)).toEqual([{ sighted: true, goneMs: 0 }]);
  }
});

test("RT-02 an agent that sees no namespace of the runtime is never trusted", () => {
  const looks = fc.array(fc.tuple(fc.nat(5), fc.constantFrom<Seen>("gone", "other", "unknown")), { maxLength: 8 });
  fc.assert(
    fc.property(fc.array(looks, { maxLength: 12 }), (rounds) => {
      const sight = new Sight();
      for (const [index, round] of rounds.entries()) {
        const known = sight.look(
          round.map(([id, seen]) => at(String(id), seen)),
          index,
        );
        expect(known.filter(({ sighted }) => sighted)).toEqual([]);
      }
    }),
  );
});
