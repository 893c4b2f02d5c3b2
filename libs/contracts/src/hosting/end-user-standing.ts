/** Says whether an end user is suspended, as of an event of its stream. */
export interface SetEndUserStanding {
  readonly endUserId: string;
  readonly suspended: boolean;
  /** The position of the event in the log, decimal. An earlier one than the last that was received changes nothing. */
  readonly position: string;
}
