// Media types of OCI images, of WebAssembly components as artifacts (CNCF TAG Runtime, "Wasm OCI Artifact layout") and of cosign's bundles.

/** An OCI image manifest. */
export const manifestType = "application/vnd.oci.image.manifest.v1+json";
/** An OCI image index. */
export const indexType = "application/vnd.oci.image.index.v1+json";
/** The layer of a component or a module. */
export const wasmLayerType = "application/wasm";
/** The configuration of an artifact with a component. */
export const wasmConfigType = "application/vnd.wasm.config.v0+json";
/** Prefix of the artifact types of Sigstore bundles; the version follows. */
const bundleTypePrefix = "application/vnd.dev.sigstore.bundle";
/** A Sigstore bundle of version 0.3, as cosign 3 stores it. */
export const bundleType = `${bundleTypePrefix}.v0.3+json`;

/** Whether the artifact type is that of a Sigstore bundle of any version. */
export function isBundleType(type: string): boolean {
  return type === bundleTypePrefix || type.startsWith(`${bundleTypePrefix}.`) || type.startsWith(`${bundleTypePrefix}+`);
}
