/** Figures without a limit beside them. */
export interface Inventory {
  readonly kind: 'inventory';
  readonly title: string;
  readonly unit: string;
  readonly items: readonly { readonly name: string; readonly value: number }[];
}
