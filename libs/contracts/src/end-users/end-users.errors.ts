import { defineErrors } from '@berth/kernel';

/** Error codes that callers of the API get from `end-users`. */
export const endUsersErrors = defineErrors({
  end_user_not_found: { kind: 'not_found', when: 'the account has no end user with this external id' },
  invalid_external_id: {
    kind: 'invalid',
    when: 'the external id of an end user is not 1 to 128 letters, digits and _ @ . : + -',
  },
});
