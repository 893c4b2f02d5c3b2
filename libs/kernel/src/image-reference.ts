/** The reference of a container image, with what it leaves out filled in. */
export interface ImageReference {
  /** `host` or `host:port`; `docker.io` if the reference names none. */
  readonly registry: string;
  readonly repository: string;
  /** null if the reference names none. */
  readonly tag: string | null;
  /** `sha256:…`; null if the reference names none. */
  readonly digest: string | null;
}

/** Maximum length of a registry with its repository, as registries and containerd have it. */
const MAX_NAME = 255;
const REGISTRY =
  /^(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*|\[[0-9a-fA-F:.]+\])(?::\d{1,5})?$/;
const PART = /^[a-z0-9]+(?:(?:\.|_{1,2}|-+)[a-z0-9]+)*$/;
const TAG = /^\w[\w.-]{0,127}$/;
const DIGEST = /^sha256:[0-9a-f]{64}$/;
const DEFAULT_REGISTRY = 'docker.io';
/** Its names. */
const DEFAULT_REGISTRIES = new Set([DEFAULT_REGISTRY, 'index.docker.io', 'registry-1.docker.io']);

/** Parses a reference as container tools write it; undefined if it is malformed. */
export const parseImageReference = (text: string): ImageReference | undefined => {
  const [rest = '', digest = null, ...more] = text.split('@');
  const colon = rest.lastIndexOf(':');
  const hasTag = colon > rest.lastIndexOf('/');
  const [name, tag] = hasTag ? [rest.slice(0, colon), rest.slice(colon + 1)] : [rest, null];
  const reference = { ...parseName(name), tag, digest };
  return more.length === 0 && isValid(reference) ? reference : undefined;
};

const parseName = (name: string): Pick<ImageReference, 'registry' | 'repository'> => {
  const parts = name.split('/');
  const [first = '', ...others] = parts;
  const namesRegistry = others.length > 0 && (/[.:]/.test(first) || first === 'localhost');
  if (namesRegistry && !DEFAULT_REGISTRIES.has(first))
    return { registry: first.toLowerCase(), repository: others.join('/') };
  const path = namesRegistry ? others : parts;
  return {
    registry: DEFAULT_REGISTRY,
    repository: (path.length === 1 ? ['library', ...path] : path).join('/'),
  };
};

const isValid = ({ registry, repository, tag, digest }: ImageReference): boolean =>
  REGISTRY.test(registry) &&
  repository.split('/').every((part) => PART.test(part)) &&
  registry.length + repository.length < MAX_NAME &&
  (tag === null || TAG.test(tag)) &&
  (digest === null || DIGEST.test(digest));

/** The complete reference. With a digest the tag says nothing, and is left out. */
export const formatImageReference = ({ registry, repository, tag, digest }: ImageReference): string =>
  `${registry}/${repository}${digest === null ? `:${tag ?? 'latest'}` : `@${digest}`}`;
