/** An account exists from now on. Times are ISO 8601. */
export interface AccountOpened {
  readonly type: 'AccountOpened.v2';
  readonly accountId: string;
  readonly name: string;
  /** Id of a plan in the operator's plan file; `default` limits nothing. */
  readonly plan: string;
  readonly openedAt: string;
}

/** The name and plan from now on; at least one of them differs from before. */
export interface AccountChanged {
  readonly type: 'AccountChanged';
  readonly accountId: string;
  readonly name: string;
  readonly plan: string;
  readonly changedAt: string;
}

/** The credentials of the account are rejected from now on, and its agents sleep. */
export interface AccountSuspended {
  readonly type: 'AccountSuspended';
  readonly accountId: string;
  readonly suspendedAt: string;
}

export interface AccountResumed {
  readonly type: 'AccountResumed';
  readonly accountId: string;
  readonly resumedAt: string;
}

export type AccountEvent = AccountOpened | AccountChanged | AccountSuspended | AccountResumed;

export interface OpenAccountState {
  readonly kind: 'open';
  readonly accountId: string;
  readonly name: string;
  readonly plan: string;
  readonly openedAt: string;
  /** Null unless it is suspended. */
  readonly suspendedAt: string | null;
}

export type AccountState = { readonly kind: 'unknown' } | OpenAccountState;

export const evolveAccount = (state: AccountState, event: AccountEvent): AccountState => {
  if (event.type === 'AccountOpened.v2') {
    const { accountId, name, plan, openedAt } = event;
    return { kind: 'open', accountId, name, plan, openedAt, suspendedAt: null };
  }
  if (state.kind === 'unknown') return state;
  switch (event.type) {
    case 'AccountChanged':
      return { ...state, name: event.name, plan: event.plan };
    case 'AccountSuspended':
      return { ...state, suspendedAt: event.suspendedAt };
    case 'AccountResumed':
      return { ...state, suspendedAt: null };
  }
};
