/** The names of a runtime class in containerd and on the host. */
export interface RuntimeClass {
  /** The name of the runtime for containerd; undefined: its default. */
  readonly runtime: string | undefined;
  /** The program that containerd starts for it. */
  readonly shim: string;
}

const VERSIONS: Readonly<Record<string, string>> = { runc: 'v2', kata: 'v2' };

/** Translates a class such as `runc`, `runsc` or `kata`. */
export const runtimeClassOf = (name: string): RuntimeClass => {
  const version = VERSIONS[name] ?? 'v1';
  return {
    runtime: name === 'runc' ? undefined : `io.containerd.${name}.${version}`,
    shim: `containerd-shim-${name}-${version}`,
  };
};
