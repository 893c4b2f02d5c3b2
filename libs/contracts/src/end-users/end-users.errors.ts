import { defineErrors } from '@berth/kernel';

/** Error codes that callers of the API get from `end-users`. */
export const endUsersErrors = defineErrors({
  agent_id_required: { kind: 'invalid', when: 'the end user has more than one agent' },
  end_user_not_found: { kind: 'not_found', when: 'the account has no end user with this external id' },
  end_user_suspended: { kind: 'forbidden', when: 'the end user is suspended' },
  invalid_external_id: {
    kind: 'invalid',
    when: 'the external id of an end user is not 1 to 128 letters, digits and _ @ . : + -, or is . or ..',
  },
  token_already_minted: {
    kind: 'conflict',
    when: 'an earlier attempt of the request has already minted the token, which is shown only once',
  },
  too_many_tokens: {
    kind: 'conflict',
    when: 'the end user has 1,000 tokens that are neither expired nor revoked',
  },
});
