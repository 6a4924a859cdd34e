// The daemon's checks, queue, sandboxes and sentences.

import type { PageData } from "../page-data.ts";
import { Section } from "./section.tsx";

/** The daemon, or why none answers. */
export function Daemon({ data: { daemon, silence, problems } }: { readonly data: PageData }) {
  return (
    <Section id="daemon" title="Daemon">
      {daemon === null ? (
        <div class="card failed">
          <p>No daemon answers: {silence}</p>
          <p>Without a daemon the shim starts a one-shot engine for each call. This page shows the state directory.</p>
        </div>
      ) : (
        <dl class="facts wide">
          {daemon.checks.map(({ name, ok, message }) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd class={ok ? "" : "bad-text"}>
                {ok ? "✓" : "✕"} <bdi>{message}</bdi>
              </dd>
            </div>
          ))}
          <div>
            <dt>calls</dt>
            <dd>
              {daemon.queue.active} of {daemon.queue.mostActive} served, {daemon.queue.waiting} of {daemon.queue.mostWaiting}{" "}
              waiting
            </dd>
          </div>
          <div>
            <dt>sandboxes</dt>
            <dd>
              {daemon.sandboxes.idle} idle, {daemon.sandboxes.busy} busy, {daemon.sandboxes.starting} starting,{" "}
              {daemon.sandboxes.restarts} restarted
            </dd>
          </div>
          {Object.entries(daemon.information).map(([name, text]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                <bdi>{text}</bdi>
              </dd>
            </div>
          ))}
        </dl>
      )}
      {problems.map((problem) => (
        <p key={problem} class="bad-text">
          ✕ <bdi>{problem}</bdi>
        </p>
      ))}
    </Section>
  );
}
