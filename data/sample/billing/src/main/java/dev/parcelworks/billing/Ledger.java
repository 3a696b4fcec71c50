package dev.parcelworks.billing;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Double-entry bookkeeping: every booking touches two accounts. */
public class Ledger {

    /** A movement of money from one account to another. */
    public record Entry(String debit, String credit, long cents, String reason) {}

    private final List<Entry> entries = new ArrayList<>();
    private final InvoiceCalculator calculator;

    public Ledger(InvoiceCalculator calculator) {
        this.calculator = calculator;
    }

    public synchronized void post(String debit, String credit, long cents, String reason) {
        if (cents <= 0) {
            throw new IllegalArgumentException("PW-6001: amount must be positive");
        }
        entries.add(new Entry(debit, credit, cents, reason));
    }

    /** Books a bill as money owed by the customer. */
    public void post(Invoice invoice) {
        post("receivable:" + invoice.account(), "revenue", calculator.total(invoice), "invoice");
    }

    /** Net position of one account: debits minus credits. */
    public synchronized long balance(String account) {
        long sum = 0;
        for (Entry entry : entries) {
            if (entry.debit().equals(account)) {
                sum += entry.cents();
            }
            if (entry.credit().equals(account)) {
                sum -= entry.cents();
            }
        }
        return sum;
    }

    /** Checks the books: all balances together must cancel out to zero. */
    public synchronized boolean isBalanced() {
        Map<String, Long> balances = new HashMap<>();
        for (Entry entry : entries) {
            balances.merge(entry.debit(), entry.cents(), Long::sum);
            balances.merge(entry.credit(), -entry.cents(), Long::sum);
        }
        return balances.values().stream().mapToLong(Long::longValue).sum() == 0;
    }
}
