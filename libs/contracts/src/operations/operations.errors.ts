import { defineErrors } from '@berth/kernel';

/** Error codes that callers of the API get from `operations`. */
export const operationsErrors = defineErrors({
  dead_letter_not_found: { kind: 'not_found', when: 'no dead letter has this id' },
  newer_version_serves: { kind: 'conflict', when: 'a newer version of the projection is already in use' },
  projection_not_found: { kind: 'not_found', when: 'no projection has this name' },
});
