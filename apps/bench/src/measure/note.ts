/** Why something was not measured, and what would let it be. */
export interface Note {
  readonly kind: 'note';
  readonly title: string;
  readonly text: string;
}
