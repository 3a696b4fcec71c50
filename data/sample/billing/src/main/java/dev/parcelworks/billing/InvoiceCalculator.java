package dev.parcelworks.billing;

import java.time.LocalDate;
import java.time.temporal.ChronoUnit;

/** Works out what an account has to pay us. */
public class InvoiceCalculator {

    private static final long REMINDER_FEE_CENTS = 500;
    private final int taxPercent;

    public InvoiceCalculator(int taxPercent) {
        this.taxPercent = taxPercent;
    }

    /** Sum of all positions plus tax. */
    public long total(Invoice invoice) {
        long net = invoice.lines().stream().mapToLong(Invoice.Line::amount).sum();
        return net + tax(net);
    }

    /** Same, plus the reminder fee and interest when paid after the due date. */
    public long total(Invoice invoice, LocalDate paidOn) {
        long amount = total(invoice);
        LocalDate due = invoice.dueDate(14);
        if (!paidOn.isAfter(due)) {
            return amount;
        }
        return amount + REMINDER_FEE_CENTS + lateInterest(amount, ChronoUnit.DAYS.between(due, paidOn));
    }

    private long tax(long net) {
        return Math.round(net * taxPercent / 100.0);
    }

    private static long lateInterest(long amount, long days) {
        return amount * days * 9 / 36_500;
    }
}
