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

interface Inspected {
  readonly Image?: { readonly Target?: { readonly digest?: string } };
  readonly ImageConfig?: {
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
export const parseImageFacts = (output: string): ImageFacts | undefined => {
  const [line] = output.split('\n').filter((one) => one.trim() !== '');
  if (line === undefined) return undefined;
  const { Image: image, ImageConfig: described } = JSON.parse(line) as Inspected;
  const digest = image?.Target?.digest;
  if (digest === undefined) return undefined;
  const { Entrypoint, Cmd, Env, WorkingDir, User } = described?.config ?? {};
  const [first, ...rest] = [...(Entrypoint ?? []), ...(Cmd ?? [])];
  return {
    digest,
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
