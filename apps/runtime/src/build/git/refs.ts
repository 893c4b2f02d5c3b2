/** What `git ls-remote --symref` prints. */
export interface Refs {
  /** The branch that HEAD names. */
  readonly head: string | undefined;
  readonly branches: readonly string[];
}

const BRANCH = 'refs/heads/';

export const parseRefs = (text: string): Refs => {
  const rows = text.split('\n').map((line) => line.split('\t'));
  const symbolic = rows.find(([left = '', name]) => name === 'HEAD' && left.startsWith(`ref: ${BRANCH}`));
  const isBorn = rows.some(([id = '', name]) => name === 'HEAD' && /^[0-9a-f]{40,64}$/.test(id));
  return {
    head: isBorn ? symbolic?.[0]?.slice(`ref: ${BRANCH}`.length) : undefined,
    branches: rows.flatMap(([, name = '']) => (name.startsWith(BRANCH) ? [name.slice(BRANCH.length)] : [])),
  };
};
