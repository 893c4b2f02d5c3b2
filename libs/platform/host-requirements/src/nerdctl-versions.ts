import type { FoundVersion } from './host-checks.plan.js';

/** The first version number in a text such as `nerdctl version 2.1.2`. */
export const parseVersion = (text: string): FoundVersion => {
  const [, major, minor] = /(\d+)\.(\d+)/.exec(text) ?? [];
  return major === undefined || minor === undefined ? 'unknown' : [Number(major), Number(minor)];
};

/** Parses the output of `nerdctl version --format '{{json .}}'`. */
export const parseServerVersions = (
  output: string,
): { readonly containerd: FoundVersion | 'silent'; readonly runc: FoundVersion } => {
  const components = componentsOf(output);
  const versionOf = (name: string): FoundVersion | undefined => {
    const version = components.find((component) => component.Name === name)?.Version;
    return version === undefined ? undefined : parseVersion(version);
  };
  return { containerd: versionOf('containerd') ?? 'silent', runc: versionOf('runc') ?? 'missing' };
};

interface Component {
  readonly Name: string;
  readonly Version: string;
}

const componentsOf = (output: string): readonly Component[] => {
  try {
    const parsed = JSON.parse(output) as { readonly Server?: { readonly Components?: readonly Component[] } };
    return parsed.Server?.Components ?? [];
  } catch {
    return [];
  }
};
