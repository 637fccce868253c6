// cli/page/src/view/bytes.tsx: a number of bytes, with all its digits where the pointer rests on it.
import * as units from "../model/units";

export function Bytes({ value }: { value: number }) {
  return <span title={units.bytesExact(value)}>{units.bytes(value)}</span>;
}
