import { defineErrors } from '@berth/kernel';

/** Error codes that callers of the API get from `schedules`. */
export const schedulesErrors = defineErrors({
  invalid_schedule: {
    kind: 'invalid',
    when: 'an entry of the published list is not valid; `fields` names it, and nothing was changed',
  },
});
