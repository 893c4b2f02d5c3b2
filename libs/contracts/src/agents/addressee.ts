/** The account of an agent that a caller names without a credential of the account. */
export interface Addressee {
  readonly accountId: string;
  /** Why nobody may use the agent now. */
  readonly suspended: 'account_suspended' | 'end_user_suspended' | null;
}
