/** What an image says about itself. */
export interface ImageFacts {
  /** `sha256:…` of its manifest or index. */
  readonly digest: string;
  /** ENTRYPOINT with CMD; null: it has nothing to run. */
  readonly command: readonly [string, ...string[]] | null;
  readonly env: Readonly<Record<string, string>>;
  readonly workingDir: string;
  /** USER: a name or number, with or without a group; empty if the image names none. */
  readonly user: string;
}

/** An image as nerdctl describes it, in the members that Berth reads. */
export interface InspectedImage {
  readonly Image: { readonly Target: { readonly digest: string } };
  readonly Manifest: { readonly layers: readonly object[] };
  readonly ImageConfig: {
    readonly architecture: string;
    readonly variant?: string;
    readonly os: string;
    readonly rootfs: object;
    readonly config?: {
      readonly Entrypoint?: readonly string[] | null;
      readonly Cmd?: readonly string[] | null;
      readonly Env?: readonly string[] | null;
      readonly WorkingDir?: string;
      readonly User?: string;
    };
  };
}

/**
 * Parses the output of `nerdctl image inspect --mode=native --format '{{json .}}'`: a line for each name of the image,
 * and none if it is absent. Undefined if it is absent.
 */
export const parseInspectedImage = (output: string): InspectedImage | undefined => {
  const [line] = output.split('\n').filter((one) => one.trim() !== '');
  return line === undefined ? undefined : (JSON.parse(line) as InspectedImage);
};

export const factsOf = ({ Image, ImageConfig }: InspectedImage): ImageFacts => {
  const { Entrypoint, Cmd, Env, WorkingDir, User } = ImageConfig.config ?? {};
  const [first, ...rest] = [...(Entrypoint ?? []), ...(Cmd ?? [])];
  return {
    digest: Image.Target.digest,
    command: first === undefined ? null : [first, ...rest],
    env: Object.fromEntries((Env ?? []).flatMap(toVariable)),
    workingDir: WorkingDir === undefined || WorkingDir === '' ? '/' : WorkingDir,
    user: User ?? '',
  };
};

const toVariable = (line: string): readonly (readonly [string, string])[] => {
  const equals = line.indexOf('=');
  return equals < 1 ? [] : [[line.slice(0, equals), line.slice(equals + 1)]];
};
