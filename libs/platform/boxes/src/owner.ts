/** Whose box it is. `endUserId` is null for one without an end user. */
export interface Owner {
  readonly accountId: string;
  readonly endUserId: string | null;
}
