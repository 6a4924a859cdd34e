// Keeps Node's warnings about experimental features from the administrator's terminal.

/** As `--disable-warning=ExperimentalWarning`, which `npx plexusctl` cannot give. Call it once, before anything else. */
export function hideExperimentalWarnings(): void {
  process.removeAllListeners("warning");
  process.on("warning", ({ name, message }) => {
    if (name !== "ExperimentalWarning") process.stderr.write(`${name}: ${message}\n`);
  });
}
