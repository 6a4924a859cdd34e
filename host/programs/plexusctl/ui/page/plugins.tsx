// The plugins of the node's networks: what each component declares, and what the administrator grants to it.

import type { PageData, PagePlugin } from "../page-data.ts";
import { FaultNote } from "./fault-note.tsx";
import { Nothing, Section } from "./section.tsx";

/** Components with their grants, then native plugins. */
export function Plugins({ data: { plugins, pluginsUnknown } }: { readonly data: PageData }) {
  const components = plugins?.filter(({ kind }) => kind !== "native") ?? [];
  const native = plugins?.filter(({ kind }) => kind === "native") ?? [];
  return (
    <Section
      id="plugins"
      title="Plugins and grants"
      about="A component reaches only what it declares, what it imports and what the administrator grants. A native plugin has all rights of the runtime."
    >
      {plugins === null ? (
        <Nothing>The plugins are not known: {pluginsUnknown}</Nothing>
      ) : plugins.length === 0 ? (
        <Nothing>No network is configured.</Nothing>
      ) : (
        <>
          <ul class="cards">
            {components.map((plugin) => (
              <li key={`${plugin.type} ${plugin.networks.join(" ")}`} class={plugin.problem === null ? "card" : "card failed"}>
                <Component plugin={plugin} />
              </li>
            ))}
          </ul>
          {native.length > 0 && <NativePlugins plugins={native} />}
        </>
      )}
    </Section>
  );
}

function Component({ plugin }: { readonly plugin: PagePlugin }) {
  const { type, kind, delegate, capabilities, missing, idle, problem, networks, digest, limits } = plugin;
  return (
    <>
      <h3>
        <bdi>{type}</bdi>{" "}
        <small>
          {kind === "missing" ? "missing" : delegate === null ? "component" : `component, version ${delegate.version}`}
        </small>
      </h3>
      {delegate !== null && (
        <p>
          <bdi>{delegate.about}</bdi>
        </p>
      )}
      <p class="muted">
        Used by <bdi>{networks.join(", ")}</bdi>
      </p>
      {problem !== null && <FaultNote failure={problem} />}
      {capabilities.length > 0 && <Capabilities plugin={plugin} />}
      {missing.length > 0 && <p class="bad-text">✕ Imported, but not granted: {missing.join(", ")}</p>}
      {idle.length > 0 && <p class="muted">Granted, but not declared: {idle.join(", ")}</p>}
      {(digest !== null || limits.length > 0) && <FileAndLimits plugin={plugin} />}
    </>
  );
}

/** The capabilities that the component declares, with their grants. */
function Capabilities({ plugin: { type, capabilities } }: { readonly plugin: PagePlugin }) {
  return (
    <div class="scroll" tabIndex={0} role="group" aria-label={`Capabilities of ${type}, can be scrolled`}>
      <table>
        <thead>
          <tr>
            <th scope="col">Capability</th>
            <th scope="col">Why the author wants it</th>
            <th scope="col">Granted</th>
          </tr>
        </thead>
        <tbody>
          {capabilities.map(({ name, reason, imported, granted }) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>
                <bdi>{reason}</bdi>
                {!imported && <span class="muted"> (not imported: its code cannot call it)</span>}
              </td>
              <td class={granted === null ? "outcome failed" : "outcome ok"}>
                {granted === null ? (
                  "✕ no"
                ) : granted === "{}" ? (
                  "✓ yes"
                ) : (
                  <>
                    ✓ within <code>{granted}</code>
                  </>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The component's file, its digest, and the limits of its calls. */
function FileAndLimits({ plugin: { path, digest, limits } }: { readonly plugin: PagePlugin }) {
  return (
    <details class="more">
      <summary>File and limits</summary>
      <dl class="facts">
        <div>
          <dt>File</dt>
          <dd>
            <code>{path}</code>
          </dd>
        </div>
        <div>
          <dt>Digest</dt>
          <dd>
            <code>{digest}</code>
          </dd>
        </div>
        {limits.map(({ name, value }) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value.toLocaleString("en")}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}

function NativePlugins({ plugins }: { readonly plugins: readonly PagePlugin[] }) {
  return (
    <div class="scroll" tabIndex={0} role="group" aria-label="Native plugins, can be scrolled">
      <table>
        <caption>Native plugins</caption>
        <thead>
          <tr>
            <th scope="col">Type</th>
            <th scope="col">File</th>
            <th scope="col">Used by</th>
          </tr>
        </thead>
        <tbody>
          {plugins.map(({ type, path, networks, problem }) => (
            <tr key={`${type} ${networks.join(" ")}`}>
              <th scope="row">
                <bdi>{type}</bdi>
              </th>
              <td>
                <code>{path}</code>
                {problem !== null && <FaultNote failure={problem} />}
              </td>
              <td>
                <bdi>{networks.join(", ")}</bdi>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
