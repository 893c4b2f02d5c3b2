import { defineErrors } from '@berth/kernel';

/** Error codes that callers of the API get from `accounts`. */
export const accountsErrors = defineErrors({
  account_not_found: { kind: 'not_found', when: 'no account has this id' },
  account_suspended: { kind: 'forbidden', when: "the operator has suspended the credential's account" },
  first_account: { kind: 'conflict', when: "the installation's first account cannot be suspended" },
  key_already_minted: {
    kind: 'conflict',
    when: 'an earlier attempt of the request has already minted the key, whose secret is shown only once',
  },
  key_not_found: { kind: 'not_found', when: 'the account has no key with this id' },
  missing_scope: { kind: 'forbidden', when: 'the key lacks the scope in `requiredScope`' },
  unknown_plan: { kind: 'invalid', when: 'no plan has this id' },
  unauthenticated: {
    kind: 'unauthenticated',
    when: 'the credential is absent, malformed, unknown, revoked or expired, or is in the URL',
  },
});
