import { defineErrors } from '@berth/kernel';

/** Error codes that callers of the API get from `accounts`. */
export const accountsErrors = defineErrors({
  key_already_minted: {
    kind: 'conflict',
    when: 'an earlier attempt of the request has already minted the key, whose secret is shown only once',
  },
  key_not_found: { kind: 'not_found', when: 'the account has no key with this id' },
  missing_scope: { kind: 'forbidden', when: 'the key lacks the scope in `requiredScope`' },
  unauthenticated: {
    kind: 'unauthenticated',
    when: 'the credential is absent, malformed, unknown, revoked or expired, or is in the URL',
  },
});
