use crate::{Account, FillRow, LedgerRow, MAX_FILLS};

/// A second set of books: adds up what was paid and received, leg by leg, in 128 bits, and knows no cost basis. What the
/// account says must agree with it at every mark; an account that checks itself would be a tautology.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CashFlowBook {
    tv: i128,
    /// Cash at the start plus all cash flows of fills: `start - sum x P tv`.
    flow: i128,
    fees: i128,
    financing: i128,
    position: i128,
    /// What the account had realised, paid and been charged before the first entry.
    before: [i128; 3],
    start: i128,
}

/// The account and the book disagree.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the account's {what} is {account}, by the cash-flow book {book}")]
pub struct BookError {
    /// Which number.
    pub what: &'static str,
    /// What the account says.
    pub account: i128,
    /// What the book says.
    pub book: i128,
}

impl CashFlowBook {
    /// A book that opens with what `account` holds.
    pub fn open(account: &Account, tv: i64) -> Self {
        let tv = i128::from(tv);
        let cash = i128::from(account.cash);
        CashFlowBook {
            tv,
            flow: cash - i128::from(account.basis) * tv,
            fees: 0,
            financing: 0,
            position: account.position.into(),
            before: [account.realised.into(), account.fees.into(), account.financing.into()],
            start: cash,
        }
    }

    /// Enters one leg.
    pub fn fill(&mut self, leg: &FillRow) {
        self.flow -= i128::from(leg.lots) * i128::from(leg.price) * self.tv;
        self.fees += i128::from(leg.fee) + i128::from(leg.penalty);
        self.position += i128::from(leg.lots);
    }

    /// Equity at a mark by cash flows: `start - sum x P tv - fees - financing + position mark tv`.
    pub fn equity(&self, mark: i32) -> i128 {
        self.flow - self.fees - self.financing + self.position * i128::from(mark) * self.tv
    }

    /// Enters a step's legs and financing, and holds the ledger's row against the book at `mark`.
    ///
    /// # Errors
    /// The first number that differs.
    pub fn enter(&mut self, row: &LedgerRow, fills: &[FillRow], mark: i32) -> Result<(), BookError> {
        let legs = usize::from(row.fills);
        same("legs", legs as i128, legs.min(MAX_FILLS).min(fills.len()) as i128)?;
        fills[..legs].iter().for_each(|leg| self.fill(leg));
        self.financing = i128::from(row.financing) - self.before[2];
        let [realised, fees, _] = self.before;
        same("position", row.position.into(), self.position)?;
        same("fees", i128::from(row.fees) - fees, self.fees)?;
        same("equity", row.equity.into(), self.equity(mark))?;
        let gained = i128::from(row.realised) - realised;
        same("cash", row.cash.into(), self.start + gained - self.fees - self.financing)?;
        let unrealised = (self.position * i128::from(mark) - i128::from(row.basis)) * self.tv;
        same(
            "equity by gains",
            self.start + gained + unrealised - self.fees - self.financing,
            self.equity(mark),
        )?;
        if row.position == 0 {
            same("basis when flat", row.basis.into(), 0)?;
        }
        Ok(())
    }
}

fn same(what: &'static str, account: i128, book: i128) -> Result<(), BookError> {
    if account == book { Ok(()) } else { Err(BookError { what, account, book }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lost_fee_or_cent_is_found() {
        let account = Account { cash: 1_000, ..Account::default() };
        let mut book = CashFlowBook::open(&account, 10);
        let leg = FillRow { lots: 2, price: 7, fee: 3, ..FillRow::default() };
        let right = LedgerRow {
            equity: 1_017,
            cash: 997,
            basis: 14,
            fees: 3,
            position: 2,
            fills: 1,
            ..LedgerRow::default()
        };
        let wrong = LedgerRow { equity: 1_020, cash: 1_000, fees: 0, ..right };
        assert_eq!(book.clone().enter(&wrong, &[leg], 8).unwrap_err().what, "fees");
        assert_eq!(
            book.clone().enter(&LedgerRow { basis: 15, ..right }, &[leg], 8).unwrap_err().what,
            "equity by gains"
        );
        book.enter(&right, &[leg], 8).unwrap();
    }
}
