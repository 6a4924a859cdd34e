// The page: header, summary and sections.

import { useState } from "preact/hooks";
import { ageOf } from "../../age.ts";
import type { PageData } from "../page-data.ts";
import { Attachments } from "./attachments.tsx";
import { Calls } from "./calls.tsx";
import { Daemon } from "./daemon.tsx";
import { Failures } from "./failures.tsx";
import { Picture } from "./picture.tsx";
import { Plugins } from "./plugins.tsx";
import { Pools } from "./pools.tsx";
import { Summary } from "./summary.tsx";
import { timeOfDay } from "./texts.ts";
import { useLiveData } from "./use-live-data.tsx";

const sections = [
  ["picture", "Node"],
  ["calls", "Calls"],
  ["failures", "Failures"],
  ["plugins", "Plugins and grants"],
  ["pools", "Address pools"],
  ["attachments", "Attachments"],
  ["daemon", "Daemon"],
] as const;

/** The whole page. `live`: whether a server has newer data than `initial`. */
export function App({ initial, live }: { readonly initial: PageData; readonly live: boolean }) {
  const [paused, setPaused] = useState(false);
  const [wanted, setWanted] = useState("");
  const { data, problem } = useLiveData(initial, live && !paused);
  return (
    <>
      <a class="skip" href="#content">
        Skip to the content
      </a>
      <header class="top">
        <div class="title">
          <h1>
            Plexus on <bdi>{data.node}</bdi>
          </h1>
          <DaemonState data={data} />
        </div>
        <div class="controls">
          <Freshness time={data.time} live={live} paused={paused} problem={problem} />
          {live && (
            <button type="button" aria-pressed={paused} onClick={() => setPaused(!paused)}>
              {paused ? "Resume" : "Pause"}
            </button>
          )}
          <ThemeChoice />
        </div>
        <nav aria-label="Sections">
          <ul>
            {sections.map(([id, name]) => (
              <li key={id}>
                <a href={`#${id}`}>{name}</a>
              </li>
            ))}
          </ul>
          <label class="search">
            <span>Filter by pod, network or address</span>
            <input type="search" value={wanted} onInput={(event) => setWanted(event.currentTarget.value)} />
          </label>
        </nav>
      </header>
      <main id="content">
        <Summary data={data} />
        <Picture data={data} wanted={wanted} />
        <Calls data={data} wanted={wanted} />
        <Failures data={data} wanted={wanted} />
        <Plugins data={data} />
        <Pools data={data} />
        <Attachments data={data} wanted={wanted} />
        <Daemon data={data} />
      </main>
    </>
  );
}

function DaemonState({ data: { daemon, time } }: { readonly data: PageData }) {
  if (daemon === null) return <p class="pill bad">✕ No daemon answers</p>;
  const upText = `version ${daemon.version}, up ${ageOf(daemon.since, time, "words")}`;
  return <p class={daemon.ready ? "pill good" : "pill bad"}>{daemon.ready ? `✓ Ready, ${upText}` : `✕ Not ready, ${upText}`}</p>;
}

interface FreshnessProps {
  readonly time: string;
  readonly live: boolean;
  readonly paused: boolean;
  readonly problem: string | undefined;
}

/** A screen reader hears a change of the state, and not each new time. */
function Freshness({ time, live, paused, problem }: FreshnessProps) {
  const state = problem !== undefined ? "stale" : paused ? "paused" : live ? "live" : "saved";
  const texts = { stale: `No newer data: ${problem}`, paused: "Paused", live: "Live", saved: "Saved state" } as const;
  return (
    <p class={`freshness ${state}`}>
      <span role="status">{texts[state]}</span>
      <time dateTime={time}>
        {" "}
        {state === "live" ? "" : `${time.slice(0, 10)} `}
        {timeOfDay(time).slice(0, 8)} UTC
      </time>
    </p>
  );
}

function chooseTheme(theme: string): void {
  if (theme === "") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme;
}

function ThemeChoice() {
  return (
    <label class="theme">
      <span>Theme</span>
      <select onChange={(event) => chooseTheme(event.currentTarget.value)}>
        <option value="">System</option>
        <option value="light">Light</option>
        <option value="dark">Dark</option>
      </select>
    </label>
  );
}
