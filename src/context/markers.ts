/** Placeholder so that the types of the frame stand; the grammar follows. */
declare const injected: unique symbol;
export type InjectedBlock = string & { readonly [injected]: true };
