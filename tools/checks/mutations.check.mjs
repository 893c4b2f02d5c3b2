import { problemsOf } from '../mutations/judge.mjs';
import { MUTATIONS } from '../mutations/list.mjs';

/** Checks that every break of `npm run mutate` still fits the source, and that its test exists. */
export const checkMutations = ({ root }) => ({
  problems: problemsOf(MUTATIONS, root),
  read: MUTATIONS.length,
});
