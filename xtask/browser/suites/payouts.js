// Payouts of the quick start, whose API accepts every text as an address.

import assert from "node:assert/strict";

import { guestWithMoney, logIn } from "../harness/queue.js";
import { test } from "../harness/scene.js";
import { textsOf } from "../harness/texts.js";

const ADDRESS = "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4";

for (const language of ["en", "de"]) {
  test(`a text that is no address cannot be confirmed as a payout, in ${language}`, async (scene) => {
    const t = textsOf(language);
    const service = await scene.service({ isDurable: false });
    const mia = await guestWithMoney(service, "Mia");
    const phone = await scene.phone({ base: service.url, language });
    const { page } = phone;
    await logIn(service, phone, mia);
    await page.goto("/wallet");
    await page.getByText(t.pay_out_in_crypto, { exact: true }).click();
    const options = page.getByLabel(t.payout_in, { exact: true }).locator("option");
    assert.ok((await options.count()) > 20);
    const send = async (address) => {
      await page.locator("#payout_amount").fill("10");
      await page.getByLabel(t.payout_in, { exact: true }).selectOption("BTC/bitcoin");
      await page.getByLabel(t.payout_address, { exact: true }).fill(address);
      await page.getByRole("button", { name: t.go_on, exact: true }).click();
    };
    await send("this is not an address");
    await page.locator("#wallet_address-error").waitFor();
    assert.equal(await page.getByRole("heading", { name: t.check_title }).count(), 0);
    assert.equal(await page.locator("#payout").inputValue(), "BTC/bitcoin");
    await phone.see("payout-refused");
    await send(ADDRESS);
    await page.getByRole("heading", { name: t.check_title }).waitFor();
    assert.equal((await page.locator(".groups").innerText()).replaceAll(/\s/g, ""), ADDRESS);
    const { data } = await service.call("GET", "/withdrawals", { token: mia.token });
    assert.deepEqual(data, []);
  });
}
