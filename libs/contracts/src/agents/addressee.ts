/** The account of an agent that a caller names without a credential of the account. */
export interface Addressee {
  readonly accountId: string;
  /** Why the agent cannot be used now. */
  readonly suspended: 'account_suspended' | 'end_user_suspended' | null;
}

export interface FindAddressees {
  readonly agentIds: readonly string[];
}

export interface FoundAddressee extends Addressee {
  readonly agentId: string;
}
