import type { FoundVersion } from './host-checks.plan.js';

/** The first version number in a text such as `nerdctl version 2.1.2`. */
export const parseVersion = (text: string): FoundVersion => {
  const [, major, minor] = /(\d+)\.(\d+)/.exec(text) ?? [];
  return major === undefined || minor === undefined ? 'unknown' : [Number(major), Number(minor)];
};

/** Parses containerd's version from the output of `nerdctl version --format '{{json .}}'`. */
export const parseContainerdVersion = (output: string): FoundVersion | 'silent' => {
  const version = componentsOf(output).find(({ Name }) => Name === 'containerd')?.Version;
  return version === undefined ? 'silent' : parseVersion(version);
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
