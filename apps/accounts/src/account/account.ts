/** What happened to an account. */
export interface AccountOpened {
  readonly type: 'AccountOpened';
  readonly accountId: string;
  /** Id of a plan in the operator's plan file; `default` limits nothing. */
  readonly plan: string;
  /** ISO 8601. */
  readonly openedAt: string;
}

export type AccountEvent = AccountOpened;

export type AccountState =
  { readonly kind: 'unknown' } | { readonly kind: 'open'; readonly accountId: string; readonly plan: string };

export const evolveAccount = (_state: AccountState, event: AccountEvent): AccountState => ({
  kind: 'open',
  accountId: event.accountId,
  plan: event.plan,
});
